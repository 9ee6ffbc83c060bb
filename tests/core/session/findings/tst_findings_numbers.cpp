// What is found by figures: of quantised layers, of float64, and of several inputs.

#include <QtTest>

#include "core/session/findings/find_findings.h"
#include "tests/support/finding_networks.h"
#include "tests/support/float_bytes.h"
#include "tests/support/written_models.h"

namespace tst_findings_numbers {

using namespace sonde;
using namespace test::findingnetworks;
using session::FindingReport;
using tensor::Tensor;
using tensor::Value;
using Cases = std::vector<std::vector<Value>>;

namespace {

std::string bytes(const std::string& name, int dtype, const Dims& dims, const std::function<int(int)>& at) {
    std::string raw(countOf(dims), '\0');
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<char>(at(static_cast<int>(i)));
    return rawTensor(name, dtype, dims, raw);
}

constexpr int kInt8 = 3, kInt32 = 6;

}  // namespace

class TestFindingsNumbers : public QObject {
    Q_OBJECT

  private slots:
    void quantisedLayersHaveTheirOwnScales_data();
    void quantisedLayersHaveTheirOwnScales();
    void badScalesAreToldOnce();
    void wideWeightsAreFinite();
    void failedRunsRepeatNothing();
    void floatsRoundBelowInfinity();

  private:
    FindingReport reportOf(const std::string& model, Cases cases) {
        const auto document = m_models.open(model);
        session::FindingRequest request;
        request.cases = std::move(cases);
        session::ModelInfoRequest about;
        about.hashes = false;
        const auto info = session::modelInfo(*document, about);
        if (!info) qFatal("%s", info.error().text().c_str());
        auto report = session::findFindings(*document, *info, request);
        if (!report) qFatal("%s", report.error().text().c_str());
        return *report;
    }
    static std::size_t countOf(const FindingReport& report, std::string_view id) {
        return static_cast<std::size_t>(
            std::ranges::count_if(report.findings, [id](const auto& each) { return each.finding.id == id; }));
    }

    test::WrittenModels m_models;
};

void TestFindingsNumbers::quantisedLayersHaveTheirOwnScales_data() {
    QTest::addColumn<QByteArray>("model");
    QTest::addColumn<bool>("areBytes");
    QTest::addColumn<bool>("isClipped");
    const auto add = [](const char* name, const std::string& model, bool areBytes, bool isClipped) {
        QTest::addRow("%s", name) << QByteArray::fromStdString(model) << areBytes << isClipped;
    };
    // A weight is where other operators have a scale: its elements may be zero or negative.
    const std::string right = bytes("w", kInt8, {16, 16}, [](int i) { return i % 17 - 8; });
    add("product of integers",
        test::onnxfile::model({.nodes = {{"MatMulInteger", {"x", "w"}, {"y"}}},
                               .inputs = {valueInfo("x", kUInt8, {16, 16})},
                               .outputs = {valueInfo("y", kInt32, {16, 16})},
                               .initializers = {right}}),
        true, false);
    // Its results are numbers, no bytes: they have no ends.
    const std::string packed = bytes("w", kUInt8, {16, 1, 8}, [](int i) { return i * 37 % 256; });
    add("weights of 4 bits",
        test::onnxfile::model({.nodes = {{"MatMulNBits",
                                          {"x", "w", "s"},
                                          {"y"},
                                          "",
                                          "com.microsoft",
                                          {intAttribute("K", 16), intAttribute("N", 16), intAttribute("bits", 4),
                                           intAttribute("block_size", 16)}}},
                               .inputs = {valueInfo("x", kFloat, {16, 16})},
                               .outputs = {valueInfo("y", kFloat, {16, 16})},
                               .initializers = {packed, floats("s", {16}, filled({16}, 0.01F))}},
                              {}, {opset("", 17), opset("com.microsoft", 1)}),
        false, false);
    // Half of the products are negative: cut off by a zero point of 0 like by a rectifier, and by one of 128 not.
    const auto layer = [&](int before, int behind) {
        const auto zero = [](const char* name, int value) {
            return bytes(name, kUInt8, {}, [value](int) { return value; });
        };
        return test::onnxfile::model(
            {.nodes = {{"QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}, {"y"}}},
             .inputs = {valueInfo("x", kUInt8, {16, 16})},
             .outputs = {valueInfo("y", kUInt8, {16, 16})},
             .initializers = {right, floats("xs", {}, {0.02F}), zero("xz", before), floats("ws", {}, {0.01F}),
                              bytes("wz", kInt8, {}, [](int) { return 0; }), floats("ys", {}, {0.02F}),
                              zero("yz", behind)}});
    };
    add("a rectified layer", layer(128, 0), true, false);
    add("a layer that is cut off", layer(0, 255), true, true);
}

void TestFindingsNumbers::quantisedLayersHaveTheirOwnScales() {
    QFETCH(QByteArray, model);
    QFETCH(bool, areBytes);
    QFETCH(bool, isClipped);
    std::vector<std::uint8_t> small(256);
    for (std::size_t i = 0; i < small.size(); ++i) small[i] = static_cast<std::uint8_t>(i * 7 % 256);
    const Value x = areBytes ? Value(Tensor::of<std::uint8_t>({16, 16}, small))
                             : Value(Tensor::of<float>({16, 16}, varied({16, 16})));
    const FindingReport report = reportOf(model.toStdString(), {{x}});
    QVERIFY2(report.notChecked.size() <= 1, report.text().c_str());  // batches: the size is fixed
    QCOMPARE(countOf(report, "quantization-range"), std::size_t{0});
    QCOMPARE(countOf(report, "quantization-clipping"), std::size_t{isClipped ? 1U : 0U});
}

/// The scale of a layer's result is that of what the next one reads.
void TestFindingsNumbers::badScalesAreToldOnce() {
    const FindingReport report =
        reportOf(chain({{"QuantizeLinear", {"x", "s", "z"}, {"q"}}, {"DequantizeLinear", {"q", "s", "z"}, {"y"}}}, {64},
                       {64}, {floats("s", {}, {-0.5F}), rawTensor("z", kUInt8, {}, std::string(1, '\0'))}),
                 {});
    QCOMPARE(countOf(report, "quantization-range"), std::size_t{1});
    QVERIFY2(report.findings.front().finding.message.starts_with("1 of 1 scale of q"),
             report.findings.front().finding.message.c_str());
}

/// 10^300 is a number of float64, and 10^-300 one with all of its digits.
void TestFindingsNumbers::wideWeightsAreFinite() {
    std::vector<double> weights(256);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = (i % 2 == 0 ? 1 : -1e-300) * static_cast<double>(i + 1);
    weights[17] = 1e300;
    const auto model = [&weights] {
        return test::onnxfile::model(
            {.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
             .inputs = {valueInfo("x", kDouble, {1, 16})},
             .outputs = {valueInfo("y", kDouble, {1, 16})},
             .initializers = {rawTensor("w", kDouble, {16, 16},
                                        {reinterpret_cast<const char*>(weights.data()), weights.size() * 8})}});
    };
    FindingReport report = reportOf(model(), {});
    QCOMPARE(countOf(report, "bad-weight"), std::size_t{0});
    QCOMPARE(countOf(report, "denormal"), std::size_t{0});
    for (std::size_t i = 1; i < weights.size(); i += 2) weights[i] = 1e-310;
    weights[4] = std::numeric_limits<double>::infinity();
    report = reportOf(model(), {});
    QCOMPARE(countOf(report, "bad-weight"), std::size_t{1});
    QCOMPARE(countOf(report, "denormal"), std::size_t{1});
}

/// A run that ends early has no output to compare with that of another input.
void TestFindingsNumbers::failedRunsRepeatNothing() {
    const std::string model =
        test::onnxfile::model({.nodes = {{"Gather", {"x", "i"}, {"y"}, "", "", {intAttribute("axis", 0)}}},
                               .inputs = {valueInfo("x", kFloat, {4}), valueInfo("i", kInt64, {2})},
                               .outputs = {valueInfo("y", kFloat, {2})}});
    const auto given = [](float first, std::int64_t index) {
        return std::vector<Value>{Tensor::of<float>({4}, std::vector{first, 1.0F, 2.0F, 3.0F}),
                                  Tensor::of<std::int64_t>({2}, std::vector<std::int64_t>{0, index})};
    };
    for (const Cases& cases : {Cases{given(5, 1), given(6, 9)}, Cases{given(6, 9), given(5, 1)}}) {
        const FindingReport report = reportOf(model, cases);
        QVERIFY2(std::ranges::any_of(report.notes, [](const auto& note) { return note.starts_with("the run failed"); }),
                 report.text().c_str());
        QVERIFY2(countOf(report, "constant-output") == 0, report.text().c_str());
    }
    // Two inputs that do give the same are told.
    const FindingReport same = reportOf(model, {given(5, 1), given(5, 2), given(5, 1)});
    QCOMPARE(countOf(same, "constant-output"), std::size_t{0});
    const std::string deaf = chain({{"Mul", {"x", "none"}, {"z"}}, {"Add", {"z", "b"}, {"y"}}}, {2}, {2},
                                   {floats("none", {1}, {0}), floats("b", {2}, {1, 2})});
    const auto pair = [](float value) { return std::vector<Value>{Tensor::of<float>({2}, std::vector{value, 1.0F})}; };
    QCOMPARE(countOf(reportOf(deaf, {pair(3), pair(4)}), "constant-output"), std::size_t{1});
}

/// float16(65519) is 65504, its largest number; from 65520 on it is infinite (IEEE 754, ties to even).
void TestFindingsNumbers::floatsRoundBelowInfinity() {
    const auto overflows = [this](float largest) {
        return countOf(reportOf(test::onnxfile::model(
                                    {.nodes = {{"Mul", {"x", "w"}, {"y"}}},
                                     .inputs = {valueInfo("x", kFloat, {2})},
                                     .outputs = {valueInfo("y", kFloat, {2})},
                                     .initializers = {rawTensor("w", kFloat, {2}, test::floatBytes({1, largest}))}}),
                                {}),
                       "float16-overflow");
    };
    QCOMPARE(overflows(65504), 0U);
    QCOMPARE(overflows(65519), 0U);
    QCOMPARE(overflows(65520), 1U);
}

QTEST_APPLESS_MAIN(TestFindingsNumbers)

}  // namespace tst_findings_numbers

#include "tst_findings_numbers.moc"
