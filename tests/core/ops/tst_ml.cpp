// Operators of ai.onnx.ml against ONNX Runtime: every line of tests/data/ml/cases.jsonl is a call and what it gave.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <cmath>

#include "core/ops/registry/registry.h"

namespace tst_ml {

using namespace sonde;
using tensor::AttributeValue;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

DType dtypeNamed(const QString& name) {
    static const QHash<QString, DType> names{{"f32", DType::Float32}, {"f64", DType::Float64}, {"i64", DType::Int64},
                                             {"i32", DType::Int32},   {"u8", DType::UInt8},    {"str", DType::String}};
    return names.value(name, DType::Undefined);
}

Tensor tensorIn(const QJsonObject& object) {
    std::vector<std::int64_t> dims;
    for (const QJsonValue& dim : object["s"].toArray()) dims.push_back(dim.toInteger());
    const DType dtype = dtypeNamed(object["t"].toString());
    if (dtype == DType::String) {
        std::vector<std::string> texts;
        for (const QJsonValue& text : object["v"].toArray()) texts.push_back(text.toString().toStdString());
        return Tensor::ofStrings(Shape(dims), std::move(texts));
    }
    std::vector<double> numbers;
    for (const QJsonValue& number : object["v"].toArray())
        numbers.push_back(number.isString() ? number.toString().toDouble() : number.toDouble());
    return Tensor::of<double>(Shape(dims), numbers).cast(dtype).value();
}

AttributeValue attributeIn(const QJsonObject& object) {
    const QString kind = object.keys().front();
    const QJsonValue value = object[kind];
    if (kind == "i") return std::int64_t{value.toInteger()};
    if (kind == "f") return value.toDouble(std::nan(""));
    if (kind == "s") return value.toString().toStdString();
    if (kind == "t") return tensorIn(value.toObject());
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    for (const QJsonValue& item : value.toArray()) {
        integers.push_back(item.toInteger());
        numbers.push_back(item.toDouble(std::nan("")));
        texts.push_back(item.toString().toStdString());
    }
    if (kind == "is") return integers;
    if (kind == "fs") return numbers;
    return texts;
}

/// ONNX Runtime computes in float32; its erfinv of PROBIT loses more digits.
bool close(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= 3e-5 + 1e-4 * std::abs(b);
}

/// Nothing, or what differs.
QString difference(const Value& found, const Tensor& wanted) {
    if (!found.isTensor()) return QString::fromStdString("is " + found.typeText());
    const Tensor& a = found.tensor();
    if (a.dtype() != wanted.dtype() || a.shape() != wanted.shape())
        return QString::fromStdString("is " + a.typeText() + " instead of " + wanted.typeText());
    for (std::int64_t i = 0; i < wanted.numel(); ++i) {
        const bool same = wanted.dtype() == DType::String ? a.elementText(i) == wanted.elementText(i)
                                                          : close(a.toDouble(i), wanted.toDouble(i));
        if (!same)
            return QString("element %1 is %2 instead of %3")
                .arg(i)
                .arg(QString::fromStdString(a.elementText(i)), QString::fromStdString(wanted.elementText(i)));
    }
    return {};
}

base::Result<std::vector<Value>> callOp(const char* name, std::int64_t version, const std::vector<Value>& inputs,
                                        const tensor::Attributes& attributes, std::size_t outputs) {
    const ops::OpDef* op = ops::Registry::all().find("ai.onnx.ml", name, static_cast<int>(version));
    if (!op) return base::runError("is not known");
    base::ThreadPool pool(2);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    return ops::call(*op, inputs, attributes, outputs, environment, static_cast<int>(version));
}

}  // namespace

class TestMl : public QObject {
    Q_OBJECT

  private slots:
    void valuesAreThoseOfOnnxRuntime_data() {
        QTest::addColumn<QByteArray>("line");
        QFile file(QStringLiteral(SONDE_TEST_DATA "/ml/cases.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int number = 0;
        for (const QByteArray& line : file.readAll().split('\n')) {
            if (line.isEmpty()) continue;
            const QJsonObject call = QJsonDocument::fromJson(line).object();
            const QString transform = call["attributes"]["post_transform"]["s"].toString();
            QTest::newRow(qPrintable(QString("%1 %2 %3").arg(++number).arg(call["op"].toString(), transform))) << line;
        }
        QVERIFY(number > 100);
    }
    void valuesAreThoseOfOnnxRuntime() {
        QFETCH(QByteArray, line);
        const QJsonObject call = QJsonDocument::fromJson(line).object();
        tensor::Attributes attributes;
        const QJsonObject given = call["attributes"].toObject();
        for (auto it = given.begin(); it != given.end(); ++it)
            attributes.set(it.key().toStdString(), attributeIn(it.value().toObject()));
        std::vector<Value> inputs;
        for (const QJsonValue& input : call["in"].toArray()) inputs.emplace_back(tensorIn(input.toObject()));
        const QJsonArray wanted = call["out"].toArray();
        const auto found = callOp(qPrintable(call["op"].toString()), call["version"].toInteger(), inputs, attributes,
                                  static_cast<std::size_t>(wanted.size()));
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        for (qsizetype i = 0; i < wanted.size(); ++i) {
            if (wanted[i].isNull()) continue;
            const QString text = difference((*found)[static_cast<std::size_t>(i)], tensorIn(wanted[i].toObject()));
            QVERIFY2(text.isEmpty(), qPrintable(QString("output %1 %2").arg(i).arg(text)));
        }
    }

    void twoClassesTakeTheLargerScore();
    void zipMapGivesAMapForEachRow();
    void mapsBecomeRows();
    void damagedTreesAreErrors_data();
    void damagedTreesAreErrors();
};

void TestMl::twoClassesTakeTheLargerScore() {
    // One leaf for each side of 0.5; class 0 has 0.75 or 0.25, class 1 the rest. Worked by hand.
    using Ints = std::vector<std::int64_t>;
    tensor::Attributes attributes{{"nodes_treeids", Ints{0, 0, 0}},
                                  {"nodes_nodeids", Ints{0, 1, 2}},
                                  {"nodes_featureids", Ints{0, 0, 0}},
                                  {"nodes_truenodeids", Ints{1, 0, 0}},
                                  {"nodes_falsenodeids", Ints{2, 0, 0}},
                                  {"nodes_values", std::vector<double>{0.5, 0, 0}},
                                  {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF"}},
                                  {"class_treeids", Ints{0, 0, 0, 0}},
                                  {"class_nodeids", Ints{1, 1, 2, 2}},
                                  {"class_ids", Ints{0, 1, 0, 1}},
                                  {"class_weights", std::vector<double>{0.75, 0.25, 0.25, 0.75}},
                                  {"classlabels_int64s", Ints{5, 7}}};
    const Value x(Tensor::of<float>({2, 1}, {0, 1}));
    const auto plain = callOp("TreeEnsembleClassifier", 3, {x}, attributes, 2);
    QVERIFY2(plain.has_value(), plain ? "" : plain.error().text().c_str());
    QCOMPARE(difference((*plain)[0], Tensor::of<std::int64_t>({2}, {5, 7})), QString());
    QCOMPARE(difference((*plain)[1], Tensor::of<float>({2, 2}, {0.75F, 0.25F, 0.25F, 0.75F})), QString());
    attributes.set("base_values", std::vector<double>{0, 0.75});
    const auto raised = callOp("TreeEnsembleClassifier", 3, {x}, attributes, 2);
    QVERIFY(raised.has_value());
    QCOMPARE(difference((*raised)[0], Tensor::of<std::int64_t>({2}, {7, 7})), QString());
    QCOMPARE(difference((*raised)[1], Tensor::of<float>({2, 2}, {0.75F, 1, 0.25F, 1.5F})), QString());
}

void TestMl::zipMapGivesAMapForEachRow() {
    const Value scores(Tensor::of<float>({2, 2}, {0.25F, 0.75F, 1, 0}));
    const auto named =
        callOp("ZipMap", 1, {scores}, {{"classlabels_strings", std::vector<std::string>{"no", "yes"}}}, 1);
    QVERIFY2(named.has_value(), named ? "" : named.error().text().c_str());
    const tensor::ValueList& rows = named->front().items();
    QCOMPARE(rows.size(), std::size_t{2});
    QCOMPARE(rows[0].dictItems()[1].first.toString(), std::string("yes"));
    QCOMPARE(rows[0].dictItems()[1].second.toFloat(), 0.75);
    QCOMPARE(rows[1].dictItems()[0].second.toFloat(), 1.0);
    const auto numbered = callOp("ZipMap", 1, {scores}, {{"classlabels_int64s", std::vector<std::int64_t>{4, 7}}}, 1);
    QVERIFY(numbered.has_value());
    QCOMPARE(numbered->front().items()[1].dictItems()[1].first.toInt(), std::int64_t{7});
    QVERIFY(!callOp("ZipMap", 1, {scores}, {{"classlabels_int64s", std::vector<std::int64_t>{4}}}, 1).has_value());
}

void TestMl::mapsBecomeRows() {
    // Worked by hand from the operators' descriptions.
    const Value counts =
        Value::dict({{Value("b"), Value::ofInt(2)}, {Value("a"), Value::ofInt(1)}, {Value("z"), Value::ofInt(9)}});
    const auto vector =
        callOp("DictVectorizer", 1, {counts}, {{"string_vocabulary", std::vector<std::string>{"a", "b", "c"}}}, 1);
    QVERIFY2(vector.has_value(), vector ? "" : vector.error().text().c_str());
    QCOMPARE(difference(vector->front(), Tensor::of<std::int64_t>({3}, {1, 2, 0})), QString());
    const Value sparse = Value::dict({{Value::ofInt(3), Value::ofFloat(1.5)}, {Value::ofInt(0), Value::ofFloat(-2)}});
    const auto dense = callOp("CastMap", 1, {sparse}, {}, 1);
    QVERIFY(dense.has_value());
    QCOMPARE(difference(dense->front(), Tensor::of<float>({1, 2}, {-2, 1.5F})), QString());
    const auto wide = callOp(
        "CastMap", 1, {sparse},
        {{"map_form", std::string("SPARSE")}, {"max_map", std::int64_t{5}}, {"cast_to", std::string("TO_INT64")}}, 1);
    QVERIFY(wide.has_value());
    QCOMPARE(difference(wide->front(), Tensor::of<std::int64_t>({1, 5}, {-2, 0, 0, 1, 0})), QString());
    const Value texts = Value::dict({{Value::ofInt(0), Value("12")}, {Value::ofInt(1), Value("0.5")}});
    const auto parsed = callOp("CastMap", 1, {texts}, {}, 1);
    QVERIFY(parsed.has_value());
    QCOMPARE(difference(parsed->front(), Tensor::of<float>({1, 2}, {12, 0.5F})), QString());
    const Value words = Value::dict({{Value::ofInt(0), Value("many")}});
    QVERIFY(!callOp("CastMap", 1, {words}, {}, 1).has_value());
    QVERIFY(callOp("CastMap", 1, {words}, {{"map_form", std::string("SPARSE")}, {"max_map", std::int64_t{1} << 60}}, 1)
                .error()
                .what.find("columns") != std::string::npos);
}

void TestMl::damagedTreesAreErrors_data() {
    QTest::addColumn<QString>("attribute");
    QTest::addColumn<QVariantList>("value");
    QTest::addColumn<QString>("message");
    QTest::newRow("cycle") << "nodes_truenodeids" << QVariantList{0, 0, 0} << "cycle";
    QTest::newRow("no child") << "nodes_truenodeids" << QVariantList{5, 0, 0} << "does not exist";
    QTest::newRow("short list") << "nodes_featureids" << QVariantList{0} << "lists of";
    QTest::newRow("feature out of range") << "nodes_featureids" << QVariantList{9, 0, 0} << "features";
    QTest::newRow("negative feature") << "nodes_featureids" << QVariantList{-1, 0, 0} << "no feature";
    QTest::newRow("twice the same node") << "nodes_nodeids" << QVariantList{0, 1, 1} << "two nodes";
    QTest::newRow("target out of range") << "target_ids" << QVariantList{0, 3} << "target 3";
    QTest::newRow("negative target") << "target_ids" << QVariantList{0, -3} << "target -3";
}

void TestMl::damagedTreesAreErrors() {
    QFETCH(QString, attribute);
    QFETCH(QVariantList, value);
    QFETCH(QString, message);
    using Ints = std::vector<std::int64_t>;
    tensor::Attributes attributes{{"nodes_treeids", Ints{0, 0, 0}},
                                  {"nodes_nodeids", Ints{0, 1, 2}},
                                  {"nodes_featureids", Ints{0, 0, 0}},
                                  {"nodes_truenodeids", Ints{1, 0, 0}},
                                  {"nodes_falsenodeids", Ints{2, 0, 0}},
                                  {"nodes_values", std::vector<double>{0.5, 0, 0}},
                                  {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF"}},
                                  {"target_treeids", Ints{0, 0}},
                                  {"target_nodeids", Ints{1, 2}},
                                  {"target_ids", Ints{0, 0}},
                                  {"target_weights", std::vector<double>{1, 2}}};
    const Value x(Tensor::of<float>({2, 1}, {0, 1}));
    const auto good = callOp("TreeEnsembleRegressor", 3, {x}, attributes, 1);
    QVERIFY2(good.has_value(), good ? "" : good.error().text().c_str());
    QCOMPARE(difference(good->front(), Tensor::of<float>({2, 1}, {1, 2})), QString());
    Ints numbers;
    for (const QVariant& item : value) numbers.push_back(item.toLongLong());
    attributes.set(attribute.toStdString(), numbers);
    const auto bad = callOp("TreeEnsembleRegressor", 3, {x}, attributes, 1);
    QVERIFY(!bad.has_value());
    QVERIFY2(QString::fromStdString(bad.error().what).contains(message), bad.error().what.c_str());
}

QTEST_GUILESS_MAIN(TestMl)

}  // namespace tst_ml

#include "tst_ml.moc"
