// What exports for two opsets, or of two exporters, write in other operators is the same by one canonical form. Each
// row is proved by running both forms on random numbers, of both signs and beyond all limits; a neighbour of it, which
// computes something else, stays a difference.

#include <QtTest>

#include <cmath>

#include "core/session/diff/difference_rows.h"
#include "core/session/diff/model_diff.h"
#include "tests/support/written_models.h"

namespace tst_other_forms {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;

namespace {

constexpr int kFloatType = 1, kIntegerType = 7;
using Dims = std::vector<std::int64_t>;

std::string floats(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloatType, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}
std::string integers(const std::string& name, const Dims& values, bool isOne = false) {
    return rawTensor(name, kIntegerType, isOne ? Dims{} : Dims{static_cast<std::int64_t>(values.size())},
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)));
}

/// Nodes from "x" to "y".
struct Form {
    int opset;
    std::vector<Node> nodes;
    std::vector<std::string> stored = {};
};
struct Row {
    const char* name;
    Dims input, result;
    Form first, second, other;  ///< the other computes something else than the first
};

Node node(const std::string& op, std::vector<std::string> inputs, const std::string& output,
          std::vector<std::string> attributes = {}) {
    return {op, std::move(inputs), {output}, "", "", std::move(attributes)};
}

Form layerNorm(float epsilon) {
    const std::vector<std::string> last{intsAttribute("axes", {-1})};
    return {16,
            {node("ReduceMean", {"x"}, "mean", last), node("Sub", {"x", "mean"}, "centred"),
             node("Pow", {"centred", "two"}, "square"), node("ReduceMean", {"square"}, "variance", last),
             node("Add", {"variance", "epsilon"}, "sum"), node("Sqrt", {"sum"}, "root"),
             node("Div", {"centred", "root"}, "quotient"), node("Mul", {"quotient", "scale"}, "scaled"),
             node("Add", {"scaled", "shift"}, "y")},
            {floats("two", {}, {2}), floats("epsilon", {}, {epsilon}), floats("scale", {4}, {1, 2, 3, 4}),
             floats("shift", {4}, {0, -1, 2, 0.5F})}};
}

Form exactGelu(float half) {
    return {17,
            {node("Div", {"x", "root"}, "d"), node("Erf", {"d"}, "e"), node("Add", {"e", "one"}, "a"),
             node("Mul", {"x", "a"}, "m"), node("Mul", {"m", "half"}, "y")},
            {floats("root", {}, {std::sqrt(2.0F)}), floats("one", {}, {1}), floats("half", {}, {half})}};
}

Form hardSwish(float alpha) {
    return {13, {node("HardSigmoid", {"x"}, "h", {floatAttribute("alpha", alpha)}), node("Mul", {"x", "h"}, "y")}};
}

Form turnedSoftmax(std::int64_t axis) {
    const std::vector<std::string> order{intsAttribute("perm", {0, 2, 1})};
    return {11,
            {node("Transpose", {"x"}, "t", order), node("Softmax", {"t"}, "s", {intAttribute("axis", axis)}),
             node("Transpose", {"s"}, "y", order)}};
}

Form lastOf(std::int64_t start) {
    return {
        10,
        {node("Slice", {"x", "starts", "ends", "axes"}, "s"),
         node("Squeeze", {"s"}, "y", {intsAttribute("axes", {1})})},
        {integers("starts", {start}), integers("ends", {start == -1 ? INT64_MAX : start + 1}), integers("axes", {1})}};
}

/// The sigmoid of the second half times the first: halves by Shape, Gather, Div, Mul and Slice as since opset 11.
Form halves() {
    return {
        11,
        {node("Shape", {"x"}, "shape"), node("Gather", {"shape", "axis"}, "size"), node("Div", {"size", "two"}, "half"),
         node("Mul", {"half", "from"}, "start"), node("Mul", {"half", "two"}, "end"),
         node("Mul", {"half", "one"}, "middle"), node("Slice", {"x", "zero", "middle", "axes"}, "a"),
         node("Slice", {"x", "start", "end", "axes"}, "b"), node("Sigmoid", {"b"}, "g"), node("Mul", {"a", "g"}, "y")},
        {integers("axis", {2}), integers("two", {2}), integers("one", {1}), integers("zero", {0}),
         integers("axes", {2}), integers("from", {1})}};
}

Form split(bool isTurned = false) {
    return {9,
            {Node{"Split", {"x"}, {"a", "b"}, "", "", {intAttribute("axis", -1), intsAttribute("split", {2, 2})}},
             node("Sigmoid", {isTurned ? "a" : "b"}, "g"), node("Mul", {isTurned ? "b" : "a", "g"}, "y")}};
}

Form pixelShuffle(const Dims& order) {
    return {10,
            {node("Reshape", {"x", "apart"}, "r"), node("Transpose", {"r"}, "t", {intsAttribute("perm", order)}),
             node("Reshape", {"t", "whole"}, "y")},
            {integers("apart", {1, 2, 2, 2, 3, 3}), integers("whole", {1, 2, 6, 6})}};
}

Form grown(float scale) {
    return {11,
            {node("Resize", {"x", "", "scales"}, "y",
                  {stringAttribute("mode", "nearest"), stringAttribute("nearest_mode", "floor"),
                   stringAttribute("coordinate_transformation_mode", "asymmetric")})},
            {floats("scales", {4}, {1, 1, 2, scale})}};
}

Form gemm(float beta) {
    return {13,
            {node("Gemm", {"x", "w", "b"}, "y", {floatAttribute("beta", beta), intAttribute("transB", 1)})},
            {floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}), floats("b", {3}, {1, -1, 0.5F})}};
}

std::vector<Row> rows() {
    const Dims image{2, 3, 4}, square{1, 8, 3, 3};
    return {
        {"HardSwish", image, image, hardSwish(1.0F / 6), {14, {node("HardSwish", {"x"}, "y")}}, hardSwish(0.2F)},
        {"hard swish by its limits",
         image,
         image,
         {11,
          {node("Add", {"x", "three"}, "a"), node("Clip", {"a", "zero", "six"}, "c"), node("Mul", {"x", "c"}, "m"),
           node("Div", {"m", "six"}, "y")},
          {floats("three", {}, {3}), floats("zero", {}, {0}), floats("six", {}, {6})}},
         {14, {node("HardSwish", {"x"}, "y")}},
         {14, {node("Relu", {"x"}, "y")}}},
        {"LayerNormalization",
         image,
         image,
         layerNorm(1e-5F),
         {17,
          {node("LayerNormalization", {"x", "scale", "shift"}, "y", {floatAttribute("epsilon", 1e-5F)})},
          {floats("scale", {4}, {1, 2, 3, 4}), floats("shift", {4}, {0, -1, 2, 0.5F})}},
         layerNorm(1e-2F)},
        {"Gelu", image, image, exactGelu(0.5F), {20, {node("Gelu", {"x"}, "y")}}, exactGelu(0.6F)},
        {"Softmax of a transposed value",
         image,
         image,
         turnedSoftmax(2),
         {13, {node("Softmax", {"x"}, "y", {intAttribute("axis", 1)})}},
         turnedSoftmax(1)},
        {"an index and a slice",
         image,
         {2, 4},
         lastOf(-1),
         {11, {node("Gather", {"x", "last"}, "y", {intAttribute("axis", 1)})}, {integers("last", {-1}, true)}},
         lastOf(1)},
        {"Split and slices", image, {2, 3, 2}, split(), halves(), split(true)},
        {"DepthToSpace",
         square,
         {1, 2, 6, 6},
         pixelShuffle({0, 1, 4, 2, 5, 3}),
         {11, {node("DepthToSpace", {"x"}, "y", {intAttribute("blocksize", 2), stringAttribute("mode", "CRD")})}},
         pixelShuffle({0, 1, 4, 3, 5, 2})},
        {"Upsample and Resize",
         square,
         {1, 8, 6, 6},
         {9, {node("Upsample", {"x", "scales"}, "y")}, {floats("scales", {4}, {1, 1, 2, 2})}},
         grown(2),
         grown(2.3F)},
        {"Gemm and MatMul",
         {4, 2},
         {4, 3},
         gemm(1),
         {13,
          {node("MatMul", {"x", "w"}, "m"), node("Add", {"m", "b"}, "y")},
          {floats("w", {2, 3}, {1, 3, 5, 2, 4, 6}), floats("b", {3}, {1, -1, 0.5F})}},
         gemm(0.5F)},
        {"limits",
         image,
         image,
         {9, {node("Clip", {"x"}, "y", {floatAttribute("min", 0), floatAttribute("max", 6)})}},
         {13, {node("Relu", {"x"}, "r"), node("Min", {"r", "six"}, "y")}, {floats("six", {}, {6})}},
         {9, {node("Clip", {"x"}, "y", {floatAttribute("min", 0), floatAttribute("max", 5)})}}},
        {"a mean that keeps its dimension",
         image,
         {2, 3},
         {13, {node("ReduceMean", {"x"}, "y", {intsAttribute("axes", {2}), intAttribute("keepdims", 0)})}},
         {18, {node("ReduceMean", {"x", "axes"}, "m"), node("Squeeze", {"m", "axes"}, "y")}, {integers("axes", {-1})}},
         {13, {node("ReduceMax", {"x"}, "y", {intsAttribute("axes", {2}), intAttribute("keepdims", 0)})}}},
        {"a global mean",
         square,
         {1, 8, 1, 1},
         {13, {node("GlobalAveragePool", {"x"}, "y")}},
         {13, {node("ReduceMean", {"x"}, "y", {intsAttribute("axes", {2, 3})})}},
         {13, {node("GlobalMaxPool", {"x"}, "y")}}},
        {"a length",
         image,
         {2, 3, 1},
         {13, {node("ReduceL2", {"x"}, "y", {intsAttribute("axes", {-1})})}},
         {13,
          {node("Mul", {"x", "x"}, "m"), node("ReduceSum", {"m", "axes"}, "s"), node("Sqrt", {"s"}, "y")},
          {integers("axes", {2})}},
         {13, {node("ReduceL1", {"x"}, "y", {intsAttribute("axes", {-1})})}}},
        {"Mish",
         image,
         image,
         {13, {node("Softplus", {"x"}, "p"), node("Tanh", {"p"}, "t"), node("Mul", {"x", "t"}, "y")}},
         {18, {node("Mish", {"x"}, "y")}},
         {13, {node("Softplus", {"x"}, "p"), node("Sigmoid", {"p"}, "t"), node("Mul", {"x", "t"}, "y")}}},
        {"a ceiling and padding",
         square,
         {1, 8, 2, 2},
         {9,
          {node("MaxPool", {"x"}, "y",
                {intsAttribute("kernel_shape", {2, 2}), intsAttribute("strides", {2, 2}),
                 intsAttribute("pads", {0, 0, 1, 1})})}},
         {10,
          {node("MaxPool", {"x"}, "y",
                {intsAttribute("kernel_shape", {2, 2}), intsAttribute("strides", {2, 2}),
                 intAttribute("ceil_mode", 1)})}},
         {9,
          {node("MaxPool", {"x"}, "y",
                {intsAttribute("kernel_shape", {2, 2}), intsAttribute("strides", {2, 2}),
                 intsAttribute("pads", {1, 1, 0, 0})})}}},
        {"the largest",
         image,
         {2, 3, 2},
         {9, {Node{"TopK", {"x"}, {"y", "i"}, "", "", {intAttribute("axis", -1), intAttribute("k", 2)}}}},
         {11,
          {Node{"TopK", {"x", "k"}, {"y", "i"}, "", "", {intAttribute("axis", 2), intAttribute("largest", 1)}}},
          {integers("k", {2})}},
         {11,
          {Node{"TopK", {"x", "k"}, {"y", "i"}, "", "", {intAttribute("axis", 2), intAttribute("largest", 0)}}},
          {integers("k", {2})}}},
        {"a slope for all",
         image,
         image,
         {13, {node("LeakyRelu", {"x"}, "y", {floatAttribute("alpha", 0.25F)})}},
         {13, {node("PRelu", {"x", "slope"}, "y")}, {floats("slope", {1}, {0.25F})}},
         {13, {node("LeakyRelu", {"x"}, "y", {floatAttribute("alpha", 0.5F)})}}},
    };
}

}  // namespace

class TestOtherForms : public QObject {
    Q_OBJECT

  private slots:
    void formsAreTheSame_data() { addRows(); }
    void formsAreTheSame();
    void neighboursAreNot_data() { addRows(); }
    void neighboursAreNot();
    void changesBesideAFormStay();
    void formsAreTold();

  private:
    static void addRows() {
        QTest::addColumn<int>("row");
        int at = 0;
        for (const Row& row : rows()) QTest::newRow(row.name) << at++;
    }

    /// Between other operations, so that it is no matter whether the form is at an end of the model.
    std::shared_ptr<const document::Document> open(const Row& row, const Form& form, float alpha = 1) {
        Graph graph{.nodes = {{"Neg", {"in"}, {"x"}}},
                    .inputs = {valueInfo("in", kFloatType, row.input)},
                    .outputs = {valueInfo("out", kFloatType, row.result)}};
        graph.nodes.insert(graph.nodes.end(), form.nodes.begin(), form.nodes.end());
        graph.nodes.push_back(node("Elu", {"y"}, "out", {floatAttribute("alpha", alpha)}));
        graph.initializers = form.stored;
        return m_models.open(model(graph, {}, {opset("", form.opset)}));
    }
    static ModelDiff diffOf(const document::Document& a, const document::Document& b) {
        auto diff = session::modelDiff(a, b);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return std::move(*diff);
    }

    test::WrittenModels m_models;
};

void TestOtherForms::formsAreTheSame() {
    QFETCH(const int, row);
    const Row meant = rows()[static_cast<std::size_t>(row)];
    const auto first = open(meant, meant.first), second = open(meant, meant.second);
    for (const bool isTurned : {false, true}) {
        const document::Document &a = isTurned ? *second : *first, &b = isTurned ? *first : *second;
        const ModelDiff diff = diffOf(a, b);
        const std::string text = session::modelDiffText(a, b, diff);
        QVERIFY2(diff.isEqual(), text.c_str());
        QVERIFY2(!diff.structure.otherForms.empty(), text.c_str());
        // Both on the same random numbers.
        QVERIFY2(diff.runs.runs == 2 && diff.runs.haveSameResults(), text.c_str());
        QCOMPARE(diff.structure.matchedOfAll(), 1.0);
    }
}

void TestOtherForms::neighboursAreNot() {
    QFETCH(const int, row);
    const Row meant = rows()[static_cast<std::size_t>(row)];
    for (const Form& form : {meant.first, meant.second}) {
        const auto a = open(meant, form), b = open(meant, meant.other);
        const ModelDiff diff = diffOf(*a, *b);
        QVERIFY2(!diff.structure.isEqual(), session::modelDiffText(*a, *b, diff).c_str());
    }
}

/// Only what is written otherwise is taken back.
void TestOtherForms::changesBesideAFormStay() {
    const Row meant = rows().front();
    const auto a = open(meant, meant.first), b = open(meant, meant.second, 0.5F);
    const ModelDiff diff = diffOf(*a, *b);
    const std::string text = session::modelDiffText(*a, *b, diff);
    QVERIFY2(diff.structure.otherForms.size() == 1, text.c_str());
    QVERIFY2(diff.structure.added.empty() && diff.structure.removed.empty(), text.c_str());
    QCOMPARE(diff.structure.changed.size(), std::size_t{1});
    QCOMPARE(diff.structure.changed.front().what, std::string("alpha: 1 -> 0.5"));
}

void TestOtherForms::formsAreTold() {
    const Row meant = rows().front();
    const auto a = open(meant, meant.first), b = open(meant, meant.second);
    const ModelDiff diff = diffOf(*a, *b);
    const std::string text = session::modelDiffText(*a, *b, diff), json = session::modelDiffJson(*a, *b, diff);
    QVERIFY2(text.find("the same in another form: HardSigmoid, Mul = HardSwish") != std::string::npos, text.c_str());
    QVERIFY2(text.find("but for the forms above") != std::string::npos, text.c_str());
    QVERIFY2(json.find("\"what\": \"HardSigmoid, Mul = HardSwish\"") != std::string::npos, json.c_str());
    const auto all = session::differenceRows(*a, *b, diff);
    const auto told = std::ranges::find(all, session::DifferenceRow::Kind::OtherForm, &session::DifferenceRow::kind);
    QVERIFY(told != all.end());
    QCOMPARE(told->nodesA.size(), std::size_t{2});
    QCOMPARE(told->nodesB.size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestOtherForms)

}  // namespace tst_other_forms

#include "tst_other_forms.moc"
