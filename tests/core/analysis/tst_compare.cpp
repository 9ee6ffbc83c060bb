// The meaning of reference keys (tests/data/models/README.md), on a graph of two sums that can be worked by hand.

#include <QtTest>

#include <cmath>
#include <complex>
#include <limits>
#include <map>

#include "core/analysis/compare.h"
#include "core/analysis/measured_runs.h"

namespace tst_compare {

using namespace sonde;
using analysis::ComparedCase;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// x [size] → y = x + x → z = y + x.
analysis::ComparedModel sums(std::int64_t size = 2) {
    auto graph = std::make_shared<graph::InternalGraph>();
    const graph::NodeId x =
        graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{size}));
    const auto add = [&](graph::NodeId a, graph::NodeId b, const std::string& name) {
        graph::Expr expr;
        expr.op = {"", "Add", 14};
        expr.target = "Add";
        expr.qualname = "sum";
        expr.arguments = {graph::Argument::of(a), graph::Argument::of(b)};
        return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    };
    const graph::NodeId y = add(x, x, "y");
    const graph::NodeId z = add(y, x, "z");
    graph->setResult(graph->mainId(), graph::Argument::of(z));
    return {graph, {{"x", x}}, {{"z", z}}};
}

using Values = std::map<std::string, Tensor>;

base::Result<std::vector<ComparedCase>> comparedWithin(const analysis::Tolerances& tolerances, const Values& values) {
    analysis::ReferenceValues reference;
    for (const auto& [key, value] : values) reference.keys.push_back(key);
    reference.read = [&values](const std::string& key) -> base::Result<Tensor> { return values.at(key); };
    exec::Runner runner(1);
    return analysis::compareWithin(tolerances, sums(), reference, runner);
}

base::Result<std::vector<ComparedCase>> compared(const Values& values, const analysis::Tolerance& tolerance = {}) {
    return comparedWithin(analysis::Tolerances(tolerance), values);
}

Tensor floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}
Tensor doubles(std::vector<double> values) {
    return Tensor::of<double>({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

class TestCompare : public QObject {
    Q_OBJECT

  private slots:
    void equalValuesPass();
    void theFirstInGraphOrderIsNamed();
    void summariesAreCompared();
    void everyCaseIsRun();
    void strangersAreCounted();
    void otherShapesFail();
    void missingInputsAreUsageErrors();
    void outputsOfARunThatFailedAreNoStrangers();
    void toleranceIsAbsolutePlusRelative();
    void theLargestRelativeDifferenceCounts();
    void nanEqualsNanAlone();
    void tolerancesGoByElementType();
    void aSequenceIsOneValue();
    void withoutFramesNothingIsCompared();
    void similarityAndNoise();
    void integersHaveATolerance();
    void anotherNodeOfAnOutputsNameIsLeftOut();
    void manyNamesAreCompared();
    void maskValuesAllowNothing();
    void maskValuesOfSummariesAllowNothing();
    void constantsFarAboveTheOthersAllowNothing();
    void whatIsNoMaskCountsAsLargest();
    void masksOfSummariesAndSequences();
    void outputsOfOtherNamesGoByPosition();
    void summariesOfOneValueAreOne();
};

void TestCompare::equalValuesPass() {
    const auto cases = compared({{"in.x", floats({1, 2})}, {"node.y", floats({2, 4})}, {"out.z", floats({3, 6})}});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE(cases->size(), std::size_t{1});
    QVERIFY((*cases)[0].ok());
    QCOMPARE((*cases)[0].values.size(), std::size_t{2});
    QCOMPARE((*cases)[0].values[0].qualname, std::string("sum"));
    QVERIFY((*cases)[0].values[1].isOutput);
}

void TestCompare::theFirstInGraphOrderIsNamed() {
    const auto cases = compared({{"in.x", floats({1, 2})}, {"node.z", floats({3, 7})}, {"node.y", floats({2, 4.5f})}});
    QVERIFY(cases.has_value());
    QVERIFY(!(*cases)[0].ok());
    QCOMPARE((*cases)[0].firstDiverging()->name, std::string("y"));
    QCOMPARE((*cases)[0].firstDiverging()->maxAbsolute, 0.5);
}

void TestCompare::summariesAreCompared() {
    // y = (2, 4): mean 3, population deviation 1, minimum 2, maximum 4.
    const Values good{{"in.x", floats({1, 2})},
                      {"node.y.shape", Tensor::of<std::int64_t>({1}, {2})},
                      {"node.y.stats", doubles({3, 1, 2, 4})},
                      {"node.y.head", floats({2})}};
    QVERIFY((*compared(good))[0].ok());
    Values wrong = good;
    wrong.at("node.y.stats") = doubles({3, 1, 2, 4.5});
    QVERIFY(!(*compared(wrong))[0].ok());
    wrong = good;
    wrong.at("node.y.head") = floats({2.5});
    QVERIFY(!(*compared(wrong))[0].ok());
    wrong = good;
    wrong.at("node.y.shape") = Tensor::of<std::int64_t>({1}, {3});
    QVERIFY(!(*compared(wrong))[0].ok());
}

void TestCompare::everyCaseIsRun() {
    const auto cases = compared({{"in.x", floats({1, 2})},
                                 {"out.z", floats({3, 6})},
                                 {"case1.in.x", floats({10, 20})},
                                 {"case1.out.z", floats({30, 60})},
                                 {"case2.in.x", floats({0, 0})},
                                 {"case2.out.z", floats({0, 1})}});
    QVERIFY(cases.has_value());
    QCOMPARE(cases->size(), std::size_t{3});
    QVERIFY((*cases)[0].ok() && (*cases)[1].ok() && !(*cases)[2].ok());
}

void TestCompare::strangersAreCounted() {
    const auto cases = compared({{"in.x", floats({1, 2})}, {"node.elsewhere", floats({1})}, {"out.z", floats({3, 6})}});
    QVERIFY((*cases)[0].ok());
    QCOMPARE((*cases)[0].unmatched.size(), std::size_t{1});
}

void TestCompare::otherShapesFail() {
    const auto cases = compared({{"in.x", floats({1, 2})}, {"out.z", floats({3, 6, 9})}});
    QVERIFY(!(*cases)[0].ok());
    QVERIFY(QString::fromStdString((*cases)[0].firstDiverging()->note).contains("shape"));
}

void TestCompare::missingInputsAreUsageErrors() {
    const auto cases = compared({{"out.z", floats({3, 6})}});
    QVERIFY(!cases);
    QCOMPARE(cases.error().exitStatus(), 2);
}

void TestCompare::outputsOfARunThatFailedAreNoStrangers() {
    // 2 and 3 elements cannot be added: neither output is there, and either could have been compared by position.
    auto graph = std::make_shared<graph::InternalGraph>();
    const auto input = [&](const char* name, std::int64_t size) {
        return graph->addInput(graph->mainId(), name, tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{size}));
    };
    graph::Expr expr;
    expr.op = {"", "Add", 14};
    expr.target = "Add";
    const graph::NodeId a = input("a", 2), b = input("b", 3);
    expr.arguments = {graph::Argument::of(a), graph::Argument::of(b)};
    const std::string name = "sum";
    const graph::NodeId sum = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    graph->setResult(graph->mainId(), graph::Argument::of(sum));
    const Values values{{"in.a", floats({1, 2})}, {"in.b", floats({1, 2, 3})}, {"out.elsewhere", floats({2, 4})}};
    analysis::ReferenceValues reference;
    for (const auto& [key, value] : values) reference.keys.push_back(key);
    reference.read = [&values](const std::string& key) -> base::Result<Tensor> { return values.at(key); };
    exec::Runner runner(1);
    const auto cases = analysis::compareWithin(analysis::Tolerances(analysis::Tolerance()),
                                               {graph, {{"a", a}, {"b", b}}, {{"sum", sum}}}, reference, runner);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QVERIFY(!(*cases)[0].ok());
    QVERIFY((*cases)[0].unmatched.empty());
}

void TestCompare::toleranceIsAbsolutePlusRelative() {
    // |a - r| = 0.5 at r = 5.5: 0.5 <= 0.06 + 0.08 * 5.5 = 0.5; a little less of either fails.
    const Values values{{"in.x", floats({1, 2})}, {"out.z", floats({3, 5.5f})}};
    QVERIFY((*compared(values, {0.0801, 0.06}))[0].ok());
    QVERIFY(!(*compared(values, {0.08, 0.05}))[0].ok());
}

/// Of 1.5 and 1.1 against 1 the first is farther off; of what is not 0 against 0 no share can be told.
void TestCompare::theLargestRelativeDifferenceCounts() {
    const analysis::Difference both = analysis::difference(floats({1.5F, 1.125F}), floats({1, 1}), {});
    QCOMPARE(both.maxRelative, 0.5);
    QCOMPARE(both.maxAbsolute, 0.5);
    QVERIFY(std::isinf(analysis::difference(floats({1, 2}), floats({0, 2}), {}).maxRelative));
    // Integers of 64 bits that float64 does not tell apart: 2^53 + 1 and 2^53, 2^64 - 1 and 2^64 - 3.
    const auto wide = analysis::difference(Tensor::of<std::int64_t>({1}, {9007199254740993}),
                                           Tensor::of<std::int64_t>({1}, {9007199254740992}), {0, 0, 0});
    QVERIFY(!wide.ok);
    QCOMPARE(wide.maxAbsolute, 1.0);
    QCOMPARE(wide.maxRelative, 1.0 / 9007199254740992.0);
    const auto ends = analysis::difference(Tensor::of<std::uint64_t>({1}, {18446744073709551615U}),
                                           Tensor::of<std::uint64_t>({1}, {18446744073709551613U}), {0, 0, 0});
    QVERIFY(!ends.ok);
    QCOMPARE(ends.maxAbsolute, 2.0);
    QCOMPARE(analysis::difference(floats({1, 4}), floats({0, 2}), {}).maxRelative, 1.0);
}

void TestCompare::nanEqualsNanAlone() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    QVERIFY(analysis::difference(floats({nan, inf}), floats({nan, inf}), {}).ok);
    QVERIFY(!analysis::difference(floats({nan}), floats({1}), {}).ok);
    QVERIFY(!analysis::difference(floats({1}), floats({nan}), {}).ok);
    QVERIFY(!analysis::difference(floats({inf}), floats({-inf}), {}).ok);
    QVERIFY(!analysis::difference(floats({1e30f}), floats({inf}), {}).ok);
}

/// A part of the largest magnitude in the value: 1e-4 for float32, 1e-2 for float16, 8e-2 for bfloat16, nothing for
/// integers.
void TestCompare::tolerancesGoByElementType() {
    const analysis::Tolerances tolerances;
    const auto ok = [&](const Tensor& a, const Tensor& r) {
        return analysis::difference(a, r, tolerances.of(a.dtype(), r.dtype())).ok;
    };
    QVERIFY(ok(floats({0.009f, 100}), floats({0, 100})));
    QVERIFY(!ok(floats({0.011f, 100}), floats({0, 100})));
    const auto as = [](tensor::DType dtype, std::vector<float> values) {
        return floats(std::move(values)).cast(dtype).value();
    };
    using tensor::DType;
    QVERIFY(ok(as(DType::Float16, {0.9f, 100}), as(DType::Float16, {0, 100})));
    QVERIFY(!ok(as(DType::Float16, {1.1f, 100}), as(DType::Float16, {0, 100})));
    QVERIFY(ok(as(DType::BFloat16, {7, 100}), as(DType::BFloat16, {0, 100})));
    QVERIFY(!ok(as(DType::BFloat16, {9, 100}), as(DType::BFloat16, {0, 100})));
    QVERIFY(!ok(as(DType::Int32, {1, 100}), as(DType::Int32, {0, 100})));
    QVERIFY(!ok(as(DType::Bool, {1, 1}), as(DType::Bool, {0, 1})));
    // The value of a float16 model against a float32 reference: the coarser of both.
    QVERIFY(ok(as(DType::Float16, {0.9f, 100}), floats({0, 100})));
    // Beyond 2^53 neighbours are one double.
    const Tensor a = Tensor::of<std::int64_t>({1}, {(std::int64_t{1} << 53) + 1}),
                 r = Tensor::of<std::int64_t>({1}, {std::int64_t{1} << 53});
    QVERIFY(!ok(a, r));
    QVERIFY(ok(a, a));
    const Tensor c = Tensor::of<std::complex<float>>({1}, {{1, 2}}),
                 d = Tensor::of<std::complex<float>>({1}, {{1, -2}});
    QVERIFY(!ok(c, d));
    QCOMPARE(analysis::difference(c, d, {}).maxAbsolute, 4.0);
}

/// z = 3 x in two frames, the largest is 3000: 1e-4 of that is 0.3 in the small one, too.
void TestCompare::aSequenceIsOneValue() {
    const auto rows = [](std::vector<float> values) { return Tensor::of<float>({2, 2}, values); };
    for (const auto& [off, isRight] : {std::pair{0.2F, true}, std::pair{0.4F, false}}) {
        const auto cases =
            comparedWithin({}, {{"seq.in.x", rows({1000, 0, 1, 2})}, {"seq.out.z", rows({3000, 0, 3, 6 + off})}});
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE((*cases)[0].values.size(), std::size_t{1});
        QCOMPARE((*cases)[0].ok(), isRight);
    }
}

/// Frames of what is no input, or none at all, are no comparison that passes.
void TestCompare::withoutFramesNothingIsCompared() {
    const Tensor rows = Tensor::of<float>({1, 2}, std::vector<float>{1, 2});
    const Tensor none = Tensor::of<float>({0, 2}, std::vector<float>{});
    for (const Values& values : {Values{{"in.x", floats({1, 2})}, {"seq.in.other", rows}, {"seq.out.z", rows}},
                                 Values{{"seq.in.x", none}, {"seq.out.z", none}}}) {
        const auto cases = comparedWithin({}, values);
        QVERIFY(!cases.has_value());
        QCOMPARE(cases.error().what, std::string("the reference has no frames for an input of the model"));
    }
}

/// a = (1, 0), r = (1, 1): a·r / (|a|·|r|) = 1/√2; Σ r² / Σ (a - r)² = 2, which is 3.0103 dB.
void TestCompare::similarityAndNoise() {
    const analysis::Difference one = analysis::difference(floats({1, 0}), floats({1, 1}), {});
    QVERIFY(std::abs(one.cosine - 0.70710678) < 1e-8);
    QVERIFY(std::abs(one.snr - 3.0102999566) < 1e-8);
    const analysis::Difference equal = analysis::difference(floats({1, 0}), floats({1, 0}), {});
    QCOMPARE(equal.cosine, 1.0);
    QVERIFY(std::isinf(equal.snr));
    // What is said of the other elements is not said of a value that holds NaN, or an infinity that the other has not.
    const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
    for (const auto& [a, r] :
         {std::pair{nan, 1.0F}, std::pair{1.0F, nan}, std::pair{inf, 1.0F}, std::pair{1.0F, -inf}}) {
        const analysis::Difference bad = analysis::difference(floats({1, a, 3}), floats({1, r, 4}), {});
        QVERIFY(std::isnan(bad.cosine) && std::isnan(bad.snr) && !bad.ok);
    }
    const analysis::Difference same = analysis::difference(floats({1, nan}), floats({1, nan}), {});
    QVERIFY(std::isnan(same.cosine) && same.ok);
    QCOMPARE(analysis::difference(floats({1, -inf}), floats({1, -inf}), {}).cosine, 1.0);  // a mask
}

/// A tolerance for floats leaves integers exact where one is given for those.
void TestCompare::integersHaveATolerance() {
    analysis::Tolerances tolerances(analysis::Tolerance{0.5, 0});
    using tensor::DType;
    QCOMPARE(tolerances.of(DType::Int64).relative, 0.5);
    tolerances.integers = analysis::Tolerance{0, 2};
    QCOMPARE(tolerances.of(DType::Float32).relative, 0.5);
    for (const DType dtype : {DType::Int64, DType::UInt8, DType::Bool}) {
        QCOMPARE(tolerances.of(dtype).relative, 0.0);
        QCOMPARE(tolerances.of(dtype).absolute, 2.0);
    }
    QCOMPARE(tolerances.of(DType::Int64, DType::Float32).relative, 0.5);  // no integers any more
    QCOMPARE(tolerances.deciding(DType::Float64, DType::Float16), DType::Float16);
    QCOMPARE(tolerances.deciding(DType::Float32, DType::Int64), DType::Float32);
}

/// node.z of another shape than out.z is a node of the tool that wrote the reference, not this model's output.
void TestCompare::anotherNodeOfAnOutputsNameIsLeftOut() {
    const auto cases = compared({{"in.x", floats({1, 2})},
                                 {"node.z", floats({3, 6, 9})},
                                 {"node.y", floats({2, 4})},
                                 {"out.z", floats({3, 6})}});
    QVERIFY(cases.has_value());
    QVERIFY((*cases)[0].ok());
    QCOMPARE((*cases)[0].unmatched, std::vector<std::string>{"node.z"});
    QCOMPARE((*cases)[0].values.size(), std::size_t{2});
}

/// Every node of a large model, all of them outputs too: looking each name up among all others took minutes.
void TestCompare::manyNamesAreCompared() {
    constexpr int kNodes = 40'000;
    auto graph = std::make_shared<graph::InternalGraph>();
    const graph::NodeId x =
        graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{1}));
    analysis::ComparedModel model{graph, {{"x", x}}, {}};
    analysis::ReferenceValues reference;
    reference.keys.push_back("in.x");
    std::vector<graph::Argument> results;
    for (int i = 0; i < kNodes; ++i) {
        const std::string name = "y" + std::to_string(i);
        graph::Expr expr;
        expr.op = {"", "Add", 14};
        expr.target = "Add";
        expr.arguments = {graph::Argument::of(x), graph::Argument::of(x)};
        const graph::NodeId y = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
        model.outputs.emplace_back(name, y);
        results.push_back(graph::Argument::of(y));
        reference.keys.push_back("node." + name);
        reference.keys.push_back("out." + name);
    }
    graph->setResult(graph->mainId(), graph::Argument::container(graph::Argument::Kind::Tuple, std::move(results)));
    reference.read = [](const std::string& key) -> base::Result<Tensor> {
        return floats({key == "in.x" ? 1.0f : 2.0f});
    };
    exec::Runner runner(1);
    const auto cases = analysis::compare(model, reference, {}, runner);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QVERIFY((*cases)[0].ok());
    QCOMPARE((*cases)[0].values.size(), std::size_t{2 * kNodes});
}

/// −3.4e38 stands for "not this one", as does −65504 in float16; it is no measure for the other elements.
void TestCompare::maskValuesAllowNothing() {
    const analysis::Tolerances tolerances;
    const auto ok = [&](const Tensor& a, const Tensor& r) {
        return analysis::difference(a, r, tolerances.of(a.dtype(), r.dtype())).ok;
    };
    const float mask = -std::numeric_limits<float>::max();
    QVERIFY(!ok(floats({mask, 4}), floats({mask, 400})));
    QVERIFY(ok(floats({mask, 400.03F}), floats({mask, 400})));
    QVERIFY(!ok(floats({mask, 400.05F}), floats({mask, 400})));
    QVERIFY(!ok(floats({-3.4e38F, 1}), floats({-3.4e38F, 2})));
    // The mask itself is compared.
    QVERIFY(!ok(floats({0, 400}), floats({mask, 400})));
    QVERIFY(!ok(floats({mask, 400}), floats({-mask, 400})));
    QVERIFY(ok(floats({mask, mask}), floats({mask, mask})));
    const auto halves = [](std::vector<float> values) {
        return floats(std::move(values)).cast(tensor::DType::Float16).value();
    };
    QVERIFY(!ok(halves({-65504, 4}), halves({-65504, 40})));
    // Of a float16 model a float32 reference has the mask of the model.
    QVERIFY(!ok(halves({-65504, 4}), floats({-65504, 40})));
    // Large, but not near the end of the range: 1e-4 of 1e30.
    QVERIFY(ok(floats({1e30F, 4}), floats({1e30F, 400})));
}

/// y = (−2e38 · 2, 2) is −∞ and 2 in float32: an infinite minimum allows nothing to the first elements. A finite mask
/// neither: y = (−3e38, 2).
void TestCompare::maskValuesOfSummariesAllowNothing() {
    for (const float x : {-2e38F, -1.5e38F}) {
        const double y = 2 * x;
        const double first =
            std::isfinite(static_cast<float>(y)) ? static_cast<double>(static_cast<float>(y)) : -INFINITY;
        const double mean = (first + 2) / 2, deviation = std::isfinite(first) ? (2 - first) / 2 : std::nan("");
        const Values right{{"in.x", floats({x, 1})},
                           {"node.y.stats", doubles({mean, deviation, first, 2})},
                           {"node.y.head", doubles({first, 2})}};
        const auto cases = comparedWithin({}, right);
        QVERIFY((*cases)[0].ok());
        Values wrong = right;
        wrong.at("node.y.head") = doubles({first, 3});
        QVERIFY(!(*comparedWithin({}, wrong))[0].ok());
    }
}

/// Exporters write −1e9 or −1e4 where PyTorch writes −∞: 1e-4 of that is 100000, or 1.
void TestCompare::constantsFarAboveTheOthersAllowNothing() {
    const analysis::Tolerances tolerances;
    const auto compare = [&](const Tensor& a, const Tensor& r) {
        return analysis::difference(a, r, tolerances.of(a.dtype(), r.dtype()));
    };
    const float mask = -1e9F;
    const analysis::Difference wrong = compare(floats({mask, 300, 4, mask}), floats({mask, 400, 4, mask}));
    QVERIFY(!wrong.ok && wrong.masks);
    QCOMPARE(wrong.maxAbsolute, 100.0);
    QCOMPARE(wrong.masks->text(), std::string("mask values (-1e+09) do not count: the largest other magnitude is 400"));
    const analysis::Difference right = compare(floats({mask, 400.03F, 4, mask}), floats({mask, 400, 4, mask}));
    QVERIFY(right.ok && !right.masks);
    QVERIFY(!compare(floats({mask, 400.05F, 4, mask}), floats({mask, 400, 4, mask})).ok);
    // Two masks added, and rounding of float32 by 64 at 1e9.
    QVERIFY(!compare(floats({-2e9F, mask, 3, 40, mask}), floats({-2e9F, mask, 4, 40, mask})).ok);
    QVERIFY(!compare(floats({mask + 64, mask, 300}), floats({mask, mask, 400})).ok);
    // Scores from −4 to 5, and −1e4 added to some of them. What is kept out is compared by its own magnitude.
    const Tensor scores = floats({-9996, 5, -10004, 2});
    QVERIFY(!compare(floats({-9996, 5, -10004, 2.5F}), scores).ok);
    QVERIFY(compare(floats({-9996.5F, 5, -10004, 2.0004F}), scores).ok);
    QVERIFY(!compare(floats({-9994, 5, -10004, 2}), scores).ok);
    // The mask alone: what is 0 in it is compared with 1e-4.
    QVERIFY(!compare(floats({0, mask, 100, mask}), floats({0, mask, 0, mask})).ok);
    QVERIFY(compare(floats({0, mask, 9e-5F, mask}), floats({0, mask, 0, mask})).ok);
    // In float16, of which 1e-2 is allowed.
    const auto halves = [](std::vector<float> values) {
        return floats(std::move(values)).cast(tensor::DType::Float16).value();
    };
    QVERIFY(!compare(halves({-1e4F, 50, 1, -1e4F}), halves({-1e4F, 10, 1, -1e4F})).ok);
    QVERIFY(compare(halves({-1e4F, 10.05F, 1, -1e4F}), halves({-1e4F, 10, 1, -1e4F})).ok);
}

/// Each is off by less than 1e-4 of the largest, and more than 1e-4 of the smaller ones.
void TestCompare::whatIsNoMaskCountsAsLargest() {
    const auto ok = [](std::vector<float> a, std::vector<float> r) {
        const analysis::Difference found = analysis::difference(floats(std::move(a)), floats(std::move(r)),
                                                                analysis::Tolerances().of(tensor::DType::Float32));
        return found.ok && !found.masks;
    };
    QVERIFY(ok({1e9F, 4, 1}, {1e9F, 400, 1}));                                          // once: an outlier
    QVERIFY(ok({5e5F, 6e5F, 7e5F, 8e5F, 9e5F, 4}, {5e5F, 6e5F, 7e5F, 8e5F, 9e5F, 5}));  // five that are not alike
    QVERIFY(ok({2000, 2000, 30.1F}, {2000, 2000, 30}));                                 // less than 100 times as large
    QVERIFY(ok({900, 900, 1.05F}, {900, 900, 1}));                                      // less than 1000
    QVERIFY(ok({1e9F + 1e4F, 1e9F, 4}, {1e9F, 1e9F, 5}));                               // not the same in both
}

/// y = x + x of masks: the first elements and the extremes are those of the others, and so is a sequence.
void TestCompare::masksOfSummariesAndSequences() {
    const auto okOf = [](const Values& values, std::int64_t size) {
        analysis::ReferenceValues reference;
        for (const auto& [key, value] : values) reference.keys.push_back(key);
        reference.read = [&values](const std::string& key) -> base::Result<Tensor> { return values.at(key); };
        exec::Runner runner(1);
        const auto cases = analysis::compareWithin({}, sums(size), reference, runner);
        return cases && (*cases)[0].ok() && !(*cases)[0].values.empty();
    };
    // Of −1e9, −1e9, 4 and 6: the mean is −499999997.5, the deviation 500000002.5 but for 1 in 1e9.
    for (const auto& [last, isRight] : {std::pair{6.0, true}, std::pair{7.0, false}}) {
        const Values values{{"in.x", floats({-5e8F, -5e8F, 2, 3})},
                            {"node.y.stats", doubles({-499999997.5, 500000002.5, -1e9, 6})},
                            {"node.y.head", doubles({-1e9, -1e9, 4, last})}};
        QCOMPARE(okOf(values, 4), isRight);
    }
    const auto rows = [](std::vector<float> values) { return Tensor::of<float>({2, 2}, values); };
    for (const auto& [last, isRight] : {std::pair{6.0F, true}, std::pair{7.0F, false}}) {
        const Values values{{"seq.in.x", rows({-1e9F, 0, -1e9F, 2})}, {"seq.out.z", rows({-3e9F, 0, -3e9F, last})}};
        QCOMPARE(okOf(values, 2), isRight);
    }
}

/// The only output is called z.
void TestCompare::outputsOfOtherNamesGoByPosition() {
    const auto cases = compared({{"in.x", floats({1, 2})}, {"out.result", floats({3, 6})}});
    const analysis::ComparedValue& row = (*cases)[0].values.front();
    QVERIFY(row.ok);
    QCOMPARE(row.outputByPosition, std::string("z"));
    QCOMPARE(row.pairingText(), std::string("compared with output z (by position)"));
    const auto named = compared({{"in.x", floats({1, 2})}, {"out.z", floats({3, 6})}});
    QVERIFY((*named)[0].values.front().pairingText().empty());
    const analysis::ComparedModel model = sums();
    const analysis::RunDifferences found = analysis::differencesOf(*model.graph, (*cases)[0]);
    QCOMPARE(analysis::remarksOn(*model.graph, found),
             std::string("out.result is compared with output z (by position)"));
}

void TestCompare::summariesOfOneValueAreOne() {
    QCOMPARE(analysis::unmatchedText({"node.q.shape", "node.q.stats", "node.q.head", "node.r", "out.s.shape"}),
             std::string("3 reference values have no counterpart in the model: node.q, node.r, out.s.shape"));
}

QTEST_APPLESS_MAIN(TestCompare)

}  // namespace tst_compare

#include "tst_compare.moc"
