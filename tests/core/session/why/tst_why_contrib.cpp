// Rules of com.microsoft's operators, and of ai.onnx's that repeated an operand from an axis on, against what ONNX
// Runtime gave: every line of tests/data/contrib/cases.jsonl is a call and its results.

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

namespace tst_why_contrib {

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using test::RandomSource;

class TestWhyContrib : public QObject {
    Q_OBJECT

  private slots:
    void formulasGiveWhatOnnxRuntimeGave() {
        QFile file(QStringLiteral(SONDE_TEST_DATA "/contrib/cases.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::map<std::string, std::size_t> explained;  // elements
        std::map<std::string, QString> refused;
        std::set<std::string> without;
        QStringList problems;
        int number = 0;
        while (!file.atEnd()) {
            const QJsonObject line = QJsonDocument::fromJson(file.readLine()).object();
            if (line.isEmpty()) continue;
            ++number;
            test::RecombinedCall call;
            const std::string name = line["op"].toString().toStdString();
            call.version = line["version"].toInt();
            call.op = ops::Registry::all().find(line["domain"].toString().toStdString(), name, call.version);
            QVERIFY2(call.op, name.c_str());
            if (!ops::dependenceOf(*call.op)) {
                without.insert(name);
                continue;
            }
            call.attributes = test::attributesIn(line["attrs"].toObject());
            // Of ai.onnx those that repeat an operand from an axis on.
            if (line["domain"].toString().isEmpty() && call.attributes.getInt("broadcast", 0) == 0) continue;
            for (const QJsonValue& input : line["in"].toArray()) call.inputs.push_back(test::valueIn(input));
            for (const QJsonValue& result : line["out"].toArray())
                call.results.push_back(result.isNull() ? Value() : test::valueIn(result));
            // What ONNX Runtime gave is off by as much as the case says: its own states are rounded on the way.
            if (name == "DynamicQuantizeLSTM") call.slack = line["tol"].toDouble();
            const QString problem = call.problem(12);
            if (!problem.isEmpty()) problems << QString("%1 %2 ").arg(number).arg(name.c_str()) + problem;
            explained[name] += call.checked;
            if (call.refused > 0) refused[name] = call.refusal;
        }
        for (const auto& [name, count] : explained) std::printf("%s: %zu elements\n", name.c_str(), count);
        for (const auto& [name, why] : refused) std::printf("%s: %s\n", name.c_str(), qPrintable(why));
        for (const std::string& name : without) std::printf("without: %s\n", name.c_str());
        for (const QString& problem : problems) std::printf("%s\n", qPrintable(problem));
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 3).join('\n')));
        for (const char* name : {"Attention", "MultiHeadAttention", "RotaryEmbedding", "SkipLayerNormalization",
                                 "SkipSimplifiedLayerNormalization", "QLinearAdd", "QLinearMul",
                                 "QLinearGlobalAveragePool", "QLinearConcat", "EmbedLayerNormalization",
                                 "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QAttention", "DynamicQuantizeLSTM"})
            QVERIFY2(explained[name] > 0, name);
    }

    void sumsAreNormalised() {
        for (int round = 0; round < 20; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(3, 2, 5), row{shape[2]};
            const Value skip(source.tensor(source.coin() ? shape : Shape{1, shape[1], shape[2]}));
            const Value beta = source.coin() ? Value(source.tensor(row)) : Value();
            const Value bias = source.coin() ? Value(source.tensor(row)) : Value();
            const Value x(source.tensor(shape)), gamma(source.tensor(row));
            QCOMPARE(test::checked("com.microsoft", "SkipLayerNormalization", {x, skip, gamma, beta, bias},
                                   {{"epsilon", 1e-5}}, 1, 4),
                     QString());
            QCOMPARE(
                test::checked("com.microsoft", "SkipSimplifiedLayerNormalization", {x, skip, gamma, bias}, {}, 1, 4),
                QString());
        }
    }

    void heads() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const std::int64_t b = source.between(1, 2), s = source.between(1, 3), l = source.between(1, 4), h = 2,
                               d = source.between(1, 3), dv = source.between(1, 3), past = round % 3;
            const auto rows = [&](std::int64_t count, std::int64_t size) {
                return Value(source.tensor({b, count, h * size}));
            };
            std::vector<Value> inputs{rows(s, d), rows(l, d), rows(l, dv), {}, {}, {}, {}, {}};
            if (source.coin()) inputs[3] = Value(source.tensor({h * (2 * d + dv)}));
            if (source.coin()) inputs[5] = Value(source.tensor({1, h, s, past + l}));
            if (past > 0)
                inputs[6] = Value(source.tensor({b, h, past, d})), inputs[7] = Value(source.tensor({b, h, past, dv}));
            const tensor::Attributes attributes{{"num_heads", h}};
            QCOMPARE(test::checked("com.microsoft", "MultiHeadAttention", inputs, attributes, 1, 3), QString());
            // All three in one tensor, or keys and values.
            QCOMPARE(test::checked("com.microsoft", "MultiHeadAttention", {Value(source.tensor({b, s, h, 3, d}))},
                                   attributes, 1, 1),
                     QString());
            QCOMPARE(test::checked("com.microsoft", "MultiHeadAttention",
                                   {rows(s, d), Value(source.tensor({b, l, h, 2, d}))}, attributes, 1, 1),
                     QString());
        }
    }

    void headsOfProjections() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t b = 2, s = source.between(1, 3), in = 3, h = 2, d = 2, past = round % 2 * 2;
            std::vector<Value> inputs{Value(source.tensor({b, s, in})), Value(source.tensor({in, 3 * h * d})),
                                      source.coin() ? Value(source.tensor({3 * h * d})) : Value(), Value(),
                                      past > 0 ? Value(source.tensor({2, b, h, past, d})) : Value()};
            QCOMPARE(test::checked("com.microsoft", "Attention", inputs,
                                   {{"num_heads", h}, {"unidirectional", source.between(0, 1)}}, 1, 2),
                     QString());
        }
    }

    void keysOfCallsBefore() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t b = 2, hq = 4, hk = source.coin() ? 4 : 2, s = 2, l = 3, past = round % 3, d = 2, dv = 3;
            std::vector<Value> inputs{Value(source.tensor({b, hq, s, d})), Value(source.tensor({b, hk, l, d})),
                                      Value(source.tensor({b, hk, l, dv})), Value()};
            tensor::Attributes attributes{{"is_causal", source.between(0, 1)}};
            if (source.coin()) {
                inputs[0] = Value(source.tensor({b, s, hq * d})), inputs[1] = Value(source.tensor({b, l, hk * d}));
                inputs[2] = Value(source.tensor({b, l, hk * dv}));
                attributes.set("q_num_heads", hq), attributes.set("kv_num_heads", hk);
            }
            if (past > 0) {
                inputs.push_back(Value(source.tensor({b, hk, past, d})));
                inputs.push_back(Value(source.tensor({b, hk, past, dv})));
            }
            QCOMPARE(test::checked("", "Attention", inputs, attributes, 23, 3), QString());
        }
    }

    void numbersOfTheirOwnRange() {
        for (int round = 0; round < 12; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(2);
            const Tensor x = source.tensor(shape, round % 3 == 0 ? 0.5 : -3, round % 3 == 1 ? -0.5 : 3);
            QCOMPARE(test::checked("", "DynamicQuantizeLinear", {Value(x)}, {}, 11, 3), QString());
        }
        QCOMPARE(test::checked("", "DynamicQuantizeLinear", {Value(Tensor::of<float>({2}, {0, 0}))}, {}, 11, 3),
                 QString());
    }

    /// The mean and the inverse deviation, which have 1 in place of the dimensions that are normalised.
    void statisticsOfRows() {
        for (int round = 0; round < 12; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(3, 2, 4);
            const std::int64_t axis = source.between(0, 2);
            Shape row;
            for (std::size_t d = static_cast<std::size_t>(axis); d < 3; ++d) row.push_back(shape[d]);
            QCOMPARE(test::checked("", "LayerNormalization",
                                   {Value(source.tensor(shape)), Value(source.tensor(row)), Value(source.tensor(row))},
                                   {{"axis", axis}}, 17, 3),
                     QString());
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyContrib)

}  // namespace tst_why_contrib

#include "tst_why_contrib.moc"
