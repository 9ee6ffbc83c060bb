// Keys of values that have parts: what is written under a key is found under it again. The texts of keys are those of
// Python's repr().

#include <QtTest>

#include <algorithm>
#include <map>

#include "core/analysis/compare.h"
#include "core/analysis/reference_keys.h"

namespace tst_reference_keys {

using namespace sonde;
using analysis::KeyedTensors;
using tensor::Tensor;
using tensor::Value;

namespace {

Value number(float value) { return Tensor::of<float>({1}, {value}); }

Value text(const std::string& value) { return {value}; }

/// Gives the same value whatever it is called with.
class Giving : public graph::Callable {
  public:
    explicit Giving(Value value) : m_value(std::move(value)) {}
    base::Result<std::vector<Value>> call(std::span<const Value>) const override { return std::vector{m_value}; }

  private:
    Value m_value;
};

/// Of x the function h makes the value, which the model returns.
analysis::ComparedModel modelOf(const Value& value) {
    auto graph = std::make_shared<graph::InternalGraph>();
    const graph::NodeId x =
        graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{1}));
    graph::Expr expr;
    expr.kind = graph::ExprKind::CallFunction;
    expr.target = "h";
    expr.arguments = {graph::Argument::of(x)};
    expr.callable = std::make_shared<Giving>(value);
    const std::string name = "h";
    const graph::NodeId h = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    graph->setResult(graph->mainId(), graph::Argument::of(h));
    return {graph, {{"x", x}}, {{"result", h}}};
}

analysis::ComparedCase compared(const Value& value, KeyedTensors arrays) {
    arrays.emplace_back("in.x", Tensor::of<float>({1}, {0}));
    analysis::ReferenceValues reference;
    std::map<std::string, Tensor> byKey;
    for (const auto& [key, tensor] : arrays) {
        reference.keys.push_back(key);
        byKey.emplace(key, tensor);
    }
    reference.read = [&byKey](const std::string& key) -> base::Result<Tensor> { return byKey.at(key); };
    exec::Runner runner(1);
    const auto cases = analysis::compareWithin({}, modelOf(value), reference, runner);
    return cases ? cases->front() : analysis::ComparedCase{"none", {}, {}, cases.error(), {}};
}

std::vector<std::string> keysOf(const KeyedTensors& arrays) {
    std::vector<std::string> keys;
    for (const auto& array : arrays) keys.push_back(array.first);
    return keys;
}

/// Nested, with keys that have dots, quotes, words that mean something elsewhere, and one that begins like another.
Value nested() {
    return Value::dict({{text("mean"), number(1)},
                        {text("a.b"), Value::tuple({number(2), Value::dict({{text("it's"), number(3)}})})},
                        {text("a"), number(4)},
                        {text("stats"), number(5)},
                        {text(std::string(300, 'k') + "1"), number(6)},
                        {text(std::string(300, 'k') + "2"), number(7)}});
}

}  // namespace

class TestReferenceKeys : public QObject {
    Q_OBJECT

  private slots:
    void keysAreWrittenAsInPython();
    void whatIsWrittenIsFound_data();
    void whatIsWrittenIsFound();
    void aWrongPartFails();
    void summariesOfPartsAreCompared();
    void partsThatAreNotThereFail();
    void onlyPathsFollowANode();
};

void TestReferenceKeys::keysAreWrittenAsInPython() {
    KeyedTensors arrays;
    analysis::addValue(
        Value::dict({{text("mean"), number(1)}, {Value::ofInt(-3), Value::list({number(2), number(3)})}}), "node.h",
        arrays);
    QCOMPARE(keysOf(arrays), (std::vector<std::string>{"node.h.'mean'", "node.h.-3.0", "node.h.-3.1"}));
}

void TestReferenceKeys::whatIsWrittenIsFound_data() {
    QTest::addColumn<Value>("value");
    QTest::addColumn<int>("count");
    QTest::newRow("nested") << nested() << 7;
    // Not by position: 1 is the first.
    QTest::newRow("integers") << Value::dict({{Value::ofInt(1), number(10)},
                                              {Value::ofInt(0), number(20)},
                                              {Value::ofInt(1234567), number(30)}})
                              << 3;
    QTest::newRow("other numbers") << Value::dict({{Value::ofFloat(1.5), number(1)}, {Value::ofBool(true), number(2)}})
                                   << 2;
    QTest::newRow("tuple") << Value::tuple({number(1), Value::tuple({number(2), Value()})}) << 2;
}

void TestReferenceKeys::whatIsWrittenIsFound() {
    QFETCH(Value, value);
    QFETCH(int, count);
    for (const char* key : {"node.h", "out.result"}) {
        KeyedTensors arrays;
        analysis::addValue(value, key, arrays);
        QCOMPARE(arrays.size(), static_cast<std::size_t>(count));
        // In any order.
        std::ranges::reverse(arrays);
        const analysis::ComparedCase found = compared(value, arrays);
        QVERIFY2(found.ok() && found.unmatched.empty(), key);
        QCOMPARE(found.values.size(), arrays.size());
        for (const analysis::ComparedValue& one : found.values) QCOMPARE(one.maxAbsolute, 0.0);
    }
}

void TestReferenceKeys::aWrongPartFails() {
    for (const char* root : {"node.h", "out.result"}) {
        KeyedTensors arrays;
        analysis::addValue(nested(), root, arrays);
        for (std::size_t wrong = 0; wrong < arrays.size(); ++wrong) {
            KeyedTensors changed = arrays;
            changed[wrong].second = Tensor::of<float>({1}, {100});
            const analysis::ComparedCase found = compared(nested(), changed);
            QCOMPARE(std::ranges::count(found.values, false, &analysis::ComparedValue::ok), 1);
            QVERIFY(changed[wrong].first.ends_with("." + found.firstDiverging()->name));
        }
    }
}

/// mean, deviation, minimum, maximum of one element.
void TestReferenceKeys::summariesOfPartsAreCompared() {
    for (const double mean : {1.0, 2.0}) {
        const analysis::ComparedCase found =
            compared(nested(), {{"node.h.'mean'.shape", Tensor::of<std::int64_t>({1}, {1})},
                                {"node.h.'mean'.stats", Tensor::of<double>({4}, {mean, 0, 1, 1})},
                                {"node.h.'stats'", Tensor::of<float>({1}, {5})}});
        QVERIFY(found.unmatched.empty());
        QCOMPARE(found.values.size(), std::size_t{2});
        QCOMPARE(found.ok(), mean == 1.0);
    }
}

void TestReferenceKeys::partsThatAreNotThereFail() {
    const analysis::ComparedCase found = compared(nested(), {{"node.h.'median'", Tensor::of<float>({1}, {1})}});
    QCOMPARE(found.values.size(), std::size_t{1});
    QVERIFY(!found.ok());
    QCOMPARE(found.values[0].note, std::string("the value has no part 'median'"));
}

void TestReferenceKeys::onlyPathsFollowANode() {
    const auto model = modelOf(nested());
    for (const char* name :
         {"h.weight", "h.", "h.'mean", "h.'mean'.stats", "h.mean'", "h..0", "h.0.", "h.''.x", "h.pass0"})
        QVERIFY2(!analysis::keyedValue(*model.graph, name), name);
    for (const char* name : {"h", "h.'mean'", "h.0.1", "h.'a.b'.1.'it's'", "h.0.'x'.3", "h.True", "h.1.5"})
        QVERIFY2(analysis::keyedValue(*model.graph, name), name);
    QCOMPARE(analysis::keyedValue(*model.graph, "h.'a.b'.1")->path, std::string("'a.b'.1"));
}

QTEST_GUILESS_MAIN(TestReferenceKeys)

}  // namespace tst_reference_keys

#include "tst_reference_keys.moc"
