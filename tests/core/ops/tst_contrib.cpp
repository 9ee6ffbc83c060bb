// Operators of com.microsoft against ONNX Runtime: every line of tests/data/contrib/cases.jsonl is a call and what that
// gave.

#include <QFile>
#include <QtTest>

#include <limits>

#include "core/ops/registry/registry.h"
#include "tests/support/json_values.h"

namespace tst_contrib {

using namespace sonde;
using tensor::TypeInfo;
using tensor::Value;

namespace {

QList<QByteArray> caseLines() {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/contrib/cases.jsonl"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().split('\n') : QList<QByteArray>();
}

struct Call {
    const ops::OpDef* op = nullptr;
    std::vector<Value> inputs;
    tensor::Attributes attributes;
    QJsonArray wanted;
    int version = 1;
    double tolerance = 0;

    explicit Call(const QJsonObject& line)
        : attributes(test::attributesIn(line["attrs"].toObject())), wanted(line["out"].toArray()),
          version(line["version"].toInt()), tolerance(line["tol"].toDouble()) {
        op = ops::Registry::all().find(line["domain"].toString().toStdString(), line["op"].toString().toStdString(),
                                       version);
        for (const QJsonValue& input : line["in"].toArray()) inputs.push_back(test::valueIn(input));
    }
    base::Result<ops::Inferred> infer(bool dimSizesKnown) const {
        std::vector<TypeInfo> types;
        for (const Value& input : inputs) {
            types.push_back(TypeInfo::of(input));
            if (!dimSizesKnown && types.back().shape)
                types.back().shape = std::vector<tensor::Dim>(types.back().shape->size());
        }
        return ops::infer(*op, types, dimSizesKnown ? inputs : std::vector<Value>(), attributes,
                          static_cast<std::size_t>(wanted.size()));
    }
};

}  // namespace

class TestContrib : public QObject {
    Q_OBJECT

  private slots:
    void valuesAreThoseOfOnnxRuntime_data() {
        QTest::addColumn<QByteArray>("line");
        int number = 0;
        for (const QByteArray& line : caseLines()) {
            if (line.isEmpty()) continue;
            ++number;
            QTest::newRow(qPrintable(QString("%1 %2").arg(number).arg(QJsonDocument::fromJson(line)["op"].toString())))
                << line;
        }
        QVERIFY(number > 100);
    }
    void valuesAreThoseOfOnnxRuntime() {
        QFETCH(QByteArray, line);
        const Call call(QJsonDocument::fromJson(line).object());
        QVERIFY2(call.op && call.op->kernel, "is not known");
        base::ThreadPool pool(2);
        ops::RunEnvironment environment{&pool, {}, 0, false};
        const auto results = ops::call(*call.op, call.inputs, call.attributes,
                                       static_cast<std::size_t>(call.wanted.size()), environment, call.version);
        QVERIFY2(results, results ? "" : results.error().text().c_str());
        for (int i = 0; i < call.wanted.size(); ++i) {
            if (call.wanted[i].isNull()) continue;
            const QString text = test::difference((*results)[static_cast<std::size_t>(i)],
                                                  test::valueIn(call.wanted[i]), call.tolerance);
            QVERIFY2(text.isEmpty(), qPrintable(QString("result %1 ").arg(i) + text));
        }
        for (bool dimSizesKnown : {true, false}) {
            const auto inferred = call.infer(dimSizesKnown);
            QVERIFY2(inferred, inferred ? "" : inferred.error().text().c_str());
            for (int i = 0; i < call.wanted.size(); ++i) {
                if (call.wanted[i].isNull()) continue;
                const auto at = static_cast<std::size_t>(i);
                const QString wrong = test::contradiction(inferred->types[at], (*results)[at]);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
                QVERIFY2(inferred->types[at].isTensor() && inferred->types[at].dtype != tensor::DType::Undefined,
                         "the dtype is not inferred");
            }
        }
    }

    /// Same call, one thread or two: the same bits.
    void threadsChangeNothing() {
        for (const QByteArray& line : caseLines()) {
            if (line.isEmpty()) continue;
            const Call call(QJsonDocument::fromJson(line).object());
            std::vector<Value> first;
            for (std::size_t threads : {1U, 2U}) {
                base::ThreadPool pool(threads);
                ops::RunEnvironment environment{&pool, {}, 0, false};
                auto results = ops::call(*call.op, call.inputs, call.attributes,
                                         static_cast<std::size_t>(call.wanted.size()), environment, call.version);
                QVERIFY(results);
                for (std::size_t i = 0; i < first.size(); ++i) {
                    QVERIFY2(!first[i].isTensor() || identical(first[i].tensor(), (*results)[i].tensor()),
                             line.left(60).constData());
                }
                first = std::move(*results);
            }
        }
    }

    /// Inputs that are missing, empty, of another rank or cut short, and odd attributes: an error or a result, no
    /// crash.
    void brokenCallsEnd() {
        std::size_t errors = 0;
        const auto attempt = [&errors](const Call& call, const std::vector<Value>& inputs,
                                       const tensor::Attributes& attributes) {
            base::ThreadPool pool(1);
            ops::RunEnvironment environment{&pool, {}, 0, false};
            errors += !ops::call(*call.op, inputs, attributes, static_cast<std::size_t>(call.wanted.size()),
                                 environment, call.version);
            std::vector<TypeInfo> types;
            for (const Value& input : inputs) types.push_back(TypeInfo::of(input));
            errors += !ops::infer(*call.op, types, inputs, attributes, static_cast<std::size_t>(call.wanted.size()));
        };
        for (const QByteArray& line : caseLines()) {
            if (line.isEmpty()) continue;
            const Call call(QJsonDocument::fromJson(line).object());
            for (std::size_t i = 0; i < call.inputs.size(); ++i) {
                if (!call.inputs[i].isTensor()) continue;
                const tensor::Tensor& x = call.inputs[i].tensor();
                std::vector<Value> others{Value(), Value(*x.reshaped(tensor::Shape{x.numel()})), Value(x.unsqueezed(0)),
                                          Value(tensor::Tensor::scalar<float>(1))};
                for (std::size_t d = 0; d < x.rank(); ++d) {
                    others.emplace_back(x.sliced(d, 0, 0));
                    others.emplace_back(x.sliced(d, 0, x.dim(d) / 2));
                }
                for (const Value& other : others) {
                    std::vector<Value> inputs = call.inputs;
                    inputs[i] = other;
                    attempt(call, inputs, call.attributes);
                }
            }
            for (const tensor::Attribute& attribute : call.attributes.items()) {
                if (!std::holds_alternative<std::int64_t>(attribute.value)) continue;
                for (std::int64_t odd :
                     {std::int64_t{-1}, std::int64_t{0}, std::int64_t{7}, std::numeric_limits<std::int64_t>::max(),
                      std::numeric_limits<std::int64_t>::min()}) {
                    tensor::Attributes attributes = call.attributes;
                    attributes.set(attribute.name, odd);
                    attempt(call, call.inputs, attributes);
                }
            }
        }
        QVERIFY(errors > 1000);
    }
};

QTEST_APPLESS_MAIN(TestContrib)

}  // namespace tst_contrib

#include "tst_contrib.moc"
