// Rules of ai.onnx.ml's models and features against what ONNX Runtime gave: every line of tests/data/ml/cases.jsonl is
// a call and its results.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <cstdio>
#include <map>
#include <set>

#include "tests/core/session/why/random_call.h"
#include "tests/support/json_values.h"

namespace tst_why_classifiers {

using namespace sonde;
using tensor::Attributes;
using tensor::Tensor;
using tensor::Value;

namespace {

/// Texts are left out: their elements are no numbers.
bool isOfTexts(const QJsonValue& value) { return value.toObject()["t"].toString() == "str"; }

/// The attributes of a line, with tensors as these lines write them.
Attributes attributesOf(const QJsonObject& object) {
    Attributes attributes = test::attributesIn(object);
    for (auto it = object.begin(); it != object.end(); ++it) {
        const QJsonObject value = it->toObject()["t"].toObject();
        if (!value.isEmpty() && !isOfTexts(value)) attributes.set(it.key().toStdString(), test::tensorIn(value));
    }
    return attributes;
}

}  // namespace

class TestWhyClassifiers : public QObject {
    Q_OBJECT

  private slots:
    void formulasGiveWhatOnnxRuntimeGave() {
        QFile file(QStringLiteral(SONDE_TEST_DATA "/ml/cases.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::map<std::string, std::size_t> explained;  // elements
        std::map<std::string, std::set<QString>> refused;
        QStringList problems;
        int number = 0;
        while (!file.atEnd()) {
            const QJsonObject line = QJsonDocument::fromJson(file.readLine()).object();
            if (line.isEmpty()) continue;
            ++number;
            test::RecombinedCall call;
            const std::string name = line["op"].toString().toStdString();
            call.version = line["version"].toInt();
            call.op = ops::Registry::all().find("ai.onnx.ml", name, call.version);
            QVERIFY2(call.op, name.c_str());
            if (!ops::dependenceOf(*call.op)) continue;
            call.attributes = attributesOf(line["attributes"].toObject());
            const QJsonArray given = line["in"].toArray(), due = line["out"].toArray();
            if (std::ranges::any_of(given, isOfTexts)) continue;
            for (const QJsonValue& input : given) call.inputs.push_back(test::valueIn(input));
            for (const QJsonValue& result : due)
                call.results.push_back(isOfTexts(result) ? Value() : test::valueIn(result));
            // ONNX Runtime's erfinv loses digits.
            if (line["attributes"].toObject()["post_transform"].toObject()["s"].toString() == "PROBIT")
                call.slack = 2e-4;
            const QString problem = call.problem(12);
            if (!problem.isEmpty()) problems << QString("%1 %2 ").arg(number).arg(name.c_str()) + problem;
            explained[name] += call.checked;
            if (call.refused > 0) refused[name].insert(call.refusal);
        }
        for (const auto& [name, count] : explained) std::printf("%s: %zu elements\n", name.c_str(), count);
        for (const auto& [name, reasons] : refused)
            for (const QString& why : reasons) std::printf("%s: %s\n", name.c_str(), qPrintable(why));
        for (const QString& problem : problems) std::printf("%s\n", qPrintable(problem));
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 3).join('\n')));
        for (const char* name :
             {"TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier", "SVMRegressor", "SVMClassifier",
              "LinearRegressor", "LinearClassifier", "Scaler", "Normalizer", "OneHotEncoder", "LabelEncoder"})
            QVERIFY2(explained[name] > 0, name);
    }

    /// A row of two features goes to the second leaf of the first tree and the first leaf of the second one, by hand:
    /// 2.5 + 0.25 and 0.5.
    void treesNameTheirLeavesAndTheFeaturesOnTheWay() {
        const Attributes attributes{
            {"nodes_treeids", std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}},
            {"nodes_nodeids", std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}},
            {"nodes_featureids", std::vector<std::int64_t>{0, 0, 0, 2, 0, 0}},
            {"nodes_values", std::vector<double>{1, 0, 0, 0, 0, 0}},
            {"nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"}},
            {"nodes_truenodeids", std::vector<std::int64_t>{1, 0, 0, 1, 0, 0}},
            {"nodes_falsenodeids", std::vector<std::int64_t>{2, 0, 0, 2, 0, 0}},
            {"target_treeids", std::vector<std::int64_t>{0, 0, 1, 1}},
            {"target_nodeids", std::vector<std::int64_t>{1, 2, 1, 2}},
            {"target_ids", std::vector<std::int64_t>{0, 0, 0, 0}},
            {"target_weights", std::vector<double>{-1, 2.5, 0.25, 8}},
            {"base_values", std::vector<double>{0.5}},
            {"n_targets", std::int64_t{1}}};
        const std::vector<Value> inputs{Value(Tensor::of<float>({1, 3}, {3, 7, -2}))};
        const ops::OpDef* const op = ops::Registry::all().find("ai.onnx.ml", "TreeEnsembleRegressor", 1);
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const auto results = ops::call(*op, inputs, attributes, 1, environment, 1);
        QVERIFY(results);
        QCOMPARE(results->front().tensor().toDouble(0), 3.25);
        const auto found = ops::findDependence({op, inputs, &attributes, *results, 0, 0, 0, 1}, environment);
        QVERIFY2(found.has_value(), found ? "" : found.error().what.c_str());
        QCOMPARE(found->formula, std::string("sum(leaf) + base"));
        QCOMPARE(*session::why::recombined(*found), 3.25);
        std::vector<double> leaves;
        std::vector<std::int64_t> features;
        for (const ops::DependenceTerm& term : found->terms) {
            if (term.input == ops::kNoOperand) leaves.push_back(term.value);
            else features.push_back(term.element);
        }
        QCOMPARE(leaves, (std::vector<double>{2.5, 0.25}));
        QCOMPARE(features, (std::vector<std::int64_t>{0, 2}));
    }
};

QTEST_APPLESS_MAIN(TestWhyClassifiers)

}  // namespace tst_why_classifiers

#include "tst_why_classifiers.moc"
