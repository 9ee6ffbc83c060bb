#include <QtTest>

#include <limits>
#include <set>

#include "core/ops/registry/registry.h"
#include "core/ops/support/shapes.h"

namespace tst_registry {

using namespace sonde;
using ops::OpDef;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<std::vector<Value>> callOp(std::string_view name, int version, std::vector<Value> inputs,
                                        tensor::Attributes attributes = {}, std::size_t outputs = 1) {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const OpDef* op = ops::Registry::all().find("", name, version);
    return op ? ops::call(*op, inputs, attributes, outputs, environment, version)
              : base::Result<std::vector<Value>>(base::runError("no such operator"));
}

}  // namespace

class TestRegistry : public QObject {
    Q_OBJECT

  private slots:
    void everyRowIsComplete() {
        const auto rows = ops::Registry::all().rows();
        QVERIFY(rows.size() > 300);
        for (const OpDef* op : rows) {
            const QByteArray where = QByteArray(op->domain.data(), static_cast<int>(op->domain.size())) +
                                     "::" + QByteArray(op->name.data(), static_cast<int>(op->name.size()));
            QVERIFY2(!op->summary.empty() && op->summary.find('\n') == std::string_view::npos, where);
            QVERIFY2(op->kernel || op->deprecated, where);
            QVERIFY2(!ops::name(op->category).empty(), where);
            QVERIFY2(!op->outputs.empty() || op->domain != "", where);
            std::set<std::string_view> names;
            for (const ops::FormalAttribute& attribute : op->attributes)
                QVERIFY2(names.insert(attribute.name).second, where);
            for (const ops::Parameter& parameter : op->parameters)
                QVERIFY2(!parameter.name.empty() && !parameter.type.empty(), where);
        }
    }

    void versionsResolveDownwards() {
        const ops::Registry& all = ops::Registry::all();
        QCOMPARE(all.find("", "Softmax", 12)->since, 1);
        QCOMPARE(all.find("", "Softmax", 13)->since, 13);
        QCOMPARE(all.find("ai.onnx", "Softmax", 28)->since, 13);
        QVERIFY(!all.find("", "Gelu", 19));
        QVERIFY(all.knows("", "Gelu"));
        QVERIFY(!all.knows("", "NoSuchOperator"));
        QVERIFY(all.find("aten", "conv2d", 0));
    }

    void inputsAreChecked() {
        const Tensor x = Tensor::of<float>(Shape{2}, {1, 2}), i = Tensor::of<std::int64_t>(Shape{2}, {1, 2});
        const auto mixed = callOp("Add", 14, {x, i});
        QVERIFY(!mixed);
        QVERIFY(mixed.error().text().find("same dtype") != std::string::npos);
        QVERIFY(mixed.error().text().find("float32[2], int64[2]") != std::string::npos);
        QVERIFY(!callOp("Add", 14, {x}));
        QVERIFY(!callOp("Add", 14, {x, x, x}));
        QVERIFY(!callOp("Add", 14, {x, Value::ofInt(1)}));
        QVERIFY(!callOp("Add", 14, {x, Tensor::of<float>(Shape{3}, {1, 2, 3})}));
        tensor::Attributes wrong;
        wrong.set("axis", std::string("one"));
        QVERIFY(!callOp("Softmax", 13, {x}, wrong));
    }

    void wholeNumbersStayWhole() {
        constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
        QCOMPARE(ops::elementsOf(Value::ofInt(kMax))->front().constant(), std::optional(kMax));
        QCOMPARE(*ops::intOf(Value::ofInt(kMax)), kMax);
        for (const double number : {1e30, -1e30, std::numeric_limits<double>::quiet_NaN()})
            QVERIFY(!ops::intOf(Value::ofFloat(number)));
        QCOMPARE(*ops::intOf(Value::ofFloat(-2.5)), std::int64_t{-2});
    }

    void defaultsAreFilledIn() {
        const OpDef* op = ops::Registry::all().find("", "LeakyRelu", 16);
        const auto complete = ops::completeAttributes(*op, {});
        QVERIFY(complete);
        QCOMPARE(complete->getFloat("alpha", 0), 0.01);
    }

    void absurdRequestsAreErrors() {
        const Tensor image = Tensor::zeros(tensor::DType::Float32, Shape{1, 1, 4, 4}).value();
        const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
        for (const auto& [name, values] : std::initializer_list<std::pair<const char*, std::vector<std::int64_t>>>{
                 {"kernel_shape", {-1, 3}},
                 {"kernel_shape", {huge, huge}},
                 {"strides", {0, 1}},
                 {"strides", {-2, 1}},
                 {"dilations", {0, 0}},
                 {"pads", {huge, huge, huge, huge}},
                 {"pads", {1}},
                 {"kernel_shape", {3}},
                 {"dilations", {huge, 2}}}) {
            tensor::Attributes attributes;
            attributes.set("kernel_shape", std::vector<std::int64_t>{3, 3});
            attributes.set(name, values);
            QVERIFY2(!callOp("MaxPool", 12, {image}, attributes), name);
        }
        const auto ints = [](std::vector<std::int64_t> values) {
            return Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
        };
        QVERIFY(!callOp("Reshape", 14, {image, ints({-1, -1})}));
        QVERIFY(!callOp("Reshape", 14, {image, ints({3, -1})}));
        QVERIFY(!callOp("Reshape", 14, {image, ints({huge, huge, huge})}));
        QVERIFY(!callOp("Expand", 13, {image, ints({huge, 1, 4, 4})}));
        QVERIFY(!callOp("Tile", 13, {image, ints({huge, huge, huge, huge})}));
        QVERIFY(!callOp("ConstantOfShape", 9, {ints({huge, huge})}));
        QVERIFY(!callOp("Gather", 13, {image, ints({5})}));
        QVERIFY(!callOp("Slice", 13, {image, ints({0}), ints({4}), ints({0}), ints({0})}));
        QVERIFY(!callOp("Unsqueeze", 13, {image, ints({9})}));
        QVERIFY(!callOp("Transpose", 13, {image}, {{"perm", std::vector<std::int64_t>{0, 0, 1, 2}}}));
        QVERIFY(!callOp(
            "Range", 11,
            {Tensor::scalar<std::int64_t>(0), Tensor::scalar<std::int64_t>(9), Tensor::scalar<std::int64_t>(0)}));
    }

    void emptyTensorsPassThrough() {
        const Tensor empty = Tensor::zeros(tensor::DType::Float32, Shape{0, 3}).value();
        for (const char* name : {"Relu", "Exp", "Softmax", "Neg", "Flatten"}) QVERIFY2(callOp(name, 13, {empty}), name);
        QVERIFY(callOp("Add", 14, {empty, Tensor::of<float>(Shape{3}, {1, 2, 3})}));
        const auto sum = callOp("ReduceSum", 13, {empty});
        QVERIFY(sum);
        QCOMPARE((*sum)[0].tensor().toDouble(0), 0.0);
        const auto product = callOp("MatMul", 13, {Tensor::zeros(tensor::DType::Float32, Shape{2, 0}).value(), empty});
        QVERIFY(product);
        QCOMPARE((*product)[0].tensor().typeText(), std::string("float32[2,3]"));
        QCOMPARE((*product)[0].tensor().toDouble(0), 0.0);
    }

    void inferenceKeepsSymbols() {
        using tensor::Dim;
        const tensor::TypeInfo x = tensor::TypeInfo::tensor(
            tensor::DType::Float32, std::vector<Dim>{Dim::named("N"), Dim::of(3), Dim::of(224), Dim::of(224)});
        const tensor::TypeInfo w = tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{64, 3, 7, 7});
        tensor::Attributes attributes{{"strides", std::vector<std::int64_t>{2, 2}},
                                      {"pads", std::vector<std::int64_t>{3, 3, 3, 3}}};
        const tensor::TypeInfo inputs[] = {x, w};
        const auto conv = ops::infer(*ops::Registry::all().find("", "Conv", 11), inputs, {}, attributes, 1);
        QVERIFY(conv);
        QCOMPARE(conv->types[0].text(), std::string("float32[N,64,112,112]"));
        const tensor::TypeInfo reshaped[] = {x, tensor::TypeInfo::tensor(tensor::DType::Int64, Shape{2})};
        const Value constants[] = {Value(), Value(Tensor::of<std::int64_t>(Shape{2}, {0, -1}))};
        const auto flat = ops::infer(*ops::Registry::all().find("", "Reshape", 14), reshaped, constants, {}, 1);
        QVERIFY(flat);
        QCOMPARE(flat->types[0].text(), std::string("float32[N,150528]"));
    }
};

QTEST_APPLESS_MAIN(TestRegistry)

}  // namespace tst_registry

#include "tst_registry.moc"
