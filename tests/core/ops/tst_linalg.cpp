// ATen's linear algebra against PyTorch: every line of tests/data/aten/linalg.jsonl is a call and what PyTorch gave or
// said. Decompositions that are not unique: tst_linalg_decompositions.

#include <QFile>
#include <QtTest>

#include "core/ops/registry/registry.h"
#include "tests/support/json_values.h"

namespace tst_linalg {

using namespace sonde;
using tensor::DType;
using tensor::Value;

namespace {

QList<QJsonObject> calls() {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/aten/linalg.jsonl"));
    QList<QJsonObject> all;
    if (!file.open(QIODevice::ReadOnly)) return all;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (!line.isEmpty()) all << QJsonDocument::fromJson(line).object();
    }
    return all;
}

void addRows(bool refused) {
    QTest::addColumn<QJsonObject>("call");
    int number = 0;
    for (const QJsonObject& call : calls()) {
        ++number;
        if (call.contains("error") == refused)
            QTest::addRow("%d %s", number, qPrintable(call["op"].toString())) << call;
    }
}

struct Call {
    const ops::OpDef* op = nullptr;
    std::vector<Value> inputs;
    base::Result<std::vector<Value>> results = base::runError("not called");
};

/// The call with defaults filled in. No operator: its name is not known.
Call callOf(const QJsonObject& json) {
    Call call;
    call.op = ops::Registry::all().find("aten", json["op"].toString().toStdString(), 0);
    if (!call.op || !call.op->kernel) return call;
    for (const QJsonValue& argument : json["in"].toArray()) call.inputs.push_back(test::valueIn(argument));
    const QJsonObject keywords = json["kw"].toObject();
    for (std::size_t i = call.inputs.size(); i < call.op->parameters.size(); ++i) {
        const ops::Parameter& parameter = call.op->parameters[i];
        const QString key = QString::fromUtf8(parameter.name.data(), static_cast<qsizetype>(parameter.name.size()));
        call.inputs.push_back(keywords.contains(key) ? test::valueIn(keywords[key])
                                                     : parameter.fallback.value_or(Value()));
    }
    base::ThreadPool pool(2);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    call.results = ops::call(*call.op, call.inputs, {}, std::max<std::size_t>(call.op->outputs.size(), 1), environment);
    return call;
}

/// As analysis has it: of a list with tensors each item.
tensor::TypeInfo typeOf(const Value& value) {
    tensor::TypeInfo type = tensor::TypeInfo::of(value);
    if (value.kind() != tensor::ValueKind::List) return type;
    type.elements.clear();
    for (const Value& item : value.items()) type.elements.push_back(tensor::TypeInfo::of(item));
    return type;
}

/// How far a value may be from PyTorch's, of the element type that it was computed in.
double toleranceOf(const Value& wanted) {
    const bool isDouble = wanted.isTensor() &&
                          (wanted.tensor().dtype() == DType::Float64 || wanted.tensor().dtype() == DType::Complex128);
    return isDouble ? 1e-10 : 1e-4;
}

}  // namespace

class TestLinalg : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void valuesAreThoseOfPyTorch_data() { addRows(false); }
    void valuesAreThoseOfPyTorch() {
        QFETCH(QJsonObject, call);
        const Call made = callOf(call);
        QVERIFY2(made.op, "is not known");
        QVERIFY2(made.results, made.results ? "" : made.results.error().text().c_str());
        const QJsonArray wanted = call["out"].toArray();
        QVERIFY(std::ssize(*made.results) >= wanted.size());
        for (int i = 0; i < wanted.size(); ++i) {
            if (wanted[i].isNull()) continue;
            const Value value = test::valueIn(wanted[i]);
            const QString text =
                test::difference((*made.results)[static_cast<std::size_t>(i)], value, toleranceOf(value));
            QVERIFY2(text.isEmpty(), qPrintable(QString("result %1 ").arg(i) + text));
        }
        // Decompositions work in place, on copies.
        const QJsonArray given = call["in"].toArray();
        for (int i = 0; i < given.size(); ++i) {
            const Value before = test::valueIn(given[i]);
            if (!before.isTensor()) continue;
            const QString text = test::difference(made.inputs[static_cast<std::size_t>(i)], before, 0);
            QVERIFY2(text.isEmpty(), qPrintable(QString("argument %1 ").arg(i) + text));
        }
    }

    /// Every dimension follows from the arguments' types and plain values, but for the residuals of least squares; with
    /// nothing but ranks nothing wrong is said.
    void shapesAreInferred_data() { addRows(false); }
    void shapesAreInferred() {
        QFETCH(QJsonObject, call);
        const Call made = callOf(call);
        QVERIFY(made.op && made.results);
        for (const bool known : {true, false}) {
            std::vector<tensor::TypeInfo> types;
            std::vector<Value> constants;
            for (const Value& input : made.inputs) {
                types.push_back(typeOf(input));
                if (!known && types.back().shape) types.back().shape->assign(types.back().shape->size(), tensor::Dim{});
                const bool holdsTensors = input.isTensor() || (input.isListLike() && !input.items().empty() &&
                                                               input.items().front().isTensor());
                constants.push_back(holdsTensors ? Value() : input);
            }
            const auto inferred = ops::infer(*made.op, types, constants, {}, made.results->size());
            QVERIFY2(inferred, inferred ? "" : inferred.error().text().c_str());
            for (std::size_t i = 0; i < made.op->outputs.size(); ++i) {
                const QString wrong = test::contradiction(inferred->types[i], (*made.results)[i]);
                QVERIFY2(wrong.isEmpty(), qPrintable(QString("result %1 ").arg(i) + wrong));
                const bool isResidual = made.op->name == "linalg_lstsq" && i == 1;
                // A list of one item may stand for more.
                const bool isOpenList =
                    types.front().kind == tensor::ValueKind::List && types.front().elements.size() == 1;
                if (known && !isResidual && !isOpenList)
                    QVERIFY2(inferred->types[i].staticShape(), qPrintable(QString("result %1 is left open").arg(i)));
            }
        }
    }

    void whatPyTorchRefusesIsRefusedInItsWords_data() { addRows(true); }
    void whatPyTorchRefusesIsRefusedInItsWords() {
        QFETCH(QJsonObject, call);
        const Call made = callOf(call);
        QVERIFY2(made.op, "is not known");
        QVERIFY2(!made.results, "is not refused");
        QCOMPARE(QString::fromStdString(made.results.error().what), call["error"].toString());
    }

    /// The lines name every overload of PyTorch 1.13 with values of its own; a file that is gone would leave nothing to
    /// compare.
    void theFileHasEveryOperator() {
        QSet<QString> names;
        for (const QJsonObject& call : calls()) names << call["op"].toString();
        QFile file(QStringLiteral(SONDE_TEST_DATA "/aten/operators.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int count = 0;
        for (const QByteArray& line : file.readAll().split('\n')) {
            if (line.startsWith('#')) continue;
            for (const QByteArray& name : line.split(' ')) {
                if (!name.startsWith("linalg_")) continue;
                ++count;
                QVERIFY2(names.contains(QString::fromUtf8(name)), name.constData());
            }
        }
        QCOMPARE(count, 50);
    }
};

QTEST_GUILESS_MAIN(TestLinalg)

}  // namespace tst_linalg

#include "tst_linalg.moc"
