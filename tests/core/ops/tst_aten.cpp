// ATen operators against PyTorch: every line of tests/data/aten/cases.jsonl is a call and what PyTorch gave for it.

#include <QFile>
#include <QtTest>

#include "core/ops/registry/registry.h"
#include "tests/support/json_values.h"

namespace tst_aten {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

QByteArray contents(const char* path) {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/aten/") + path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestAten : public QObject {
    Q_OBJECT

  private slots:
    void valuesAreThoseOfPyTorch_data() {
        QTest::addColumn<QByteArray>("line");
        int number = 0;
        for (const QByteArray& line : contents("cases.jsonl").split('\n')) {
            if (line.isEmpty()) continue;
            ++number;
            QTest::newRow(qPrintable(QString("%1 %2").arg(number).arg(QJsonDocument::fromJson(line)["op"].toString())))
                << line;
        }
    }
    void valuesAreThoseOfPyTorch() {
        QFETCH(QByteArray, line);
        const QJsonObject call = QJsonDocument::fromJson(line).object();
        std::string name = call["op"].toString().toStdString(), domain = "aten";
        if (const std::size_t colon = name.find("::"); colon != std::string::npos) {
            domain = name.substr(0, colon);
            name = name.substr(colon + 2);
        }
        const ops::OpDef* op = ops::Registry::all().find(domain, name, 0);
        QVERIFY2(op && op->kernel, "is not known");
        std::vector<Value> inputs;
        for (const QJsonValue& argument : call["in"].toArray()) inputs.push_back(test::valueIn(argument));
        const QJsonObject keywords = call["kw"].toObject();
        for (std::size_t i = inputs.size(); i < op->parameters.size(); ++i) {
            const ops::Parameter& parameter = op->parameters[i];
            const QString key = QString::fromUtf8(parameter.name.data(), static_cast<qsizetype>(parameter.name.size()));
            QVERIFY2(keywords.contains(key) || parameter.fallback, qPrintable("argument missing: " + key));
            inputs.push_back(keywords.contains(key) ? test::valueIn(keywords[key]) : *parameter.fallback);
        }
        const QJsonArray wanted = call["out"].toArray();
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const std::size_t outputs = std::max<std::size_t>(op->outputs.size(), static_cast<std::size_t>(wanted.size()));
        const auto results = ops::call(*op, inputs, {}, outputs, environment);
        QVERIFY2(results, results ? "" : results.error().text().c_str());
        for (int i = 0; i < wanted.size(); ++i) {
            if (name == "max_pool2d" && i > 0) break;
            const QString text = test::difference((*results)[static_cast<std::size_t>(i)], test::valueIn(wanted[i]));
            QVERIFY2(text.isEmpty(), qPrintable(QString("result %1 ").arg(i) + text));
        }
        // Inference must not contradict.
        std::vector<tensor::TypeInfo> types;
        for (const Value& input : inputs) types.push_back(tensor::TypeInfo::of(input));
        std::vector<Value> constants;
        for (const Value& input : inputs) constants.push_back(input.isTensor() ? Value() : input);
        const auto inferred = ops::infer(*op, types, constants, {}, 1);
        QVERIFY2(inferred, inferred ? "" : inferred.error().text().c_str());
        const QString wrong = test::contradiction(inferred->types.front(), results->front());
        QVERIFY2(wrong.isEmpty() || !results->front().isTensor(), qPrintable(wrong));
    }

    /// What exported models use: tests/data/aten/operators.txt.
    void operatorsThatModelsUseAreKnown() {
        QStringList missing;
        int count = 0;
        for (const QByteArray& line : contents("operators.txt").split('\n')) {
            if (line.startsWith('#')) continue;
            for (const QByteArray& name : line.split(' ')) {
                if (name.isEmpty()) continue;
                ++count;
                const ops::OpDef* op = ops::Registry::all().find("aten", name.toStdString(), 0);
                if (!op || !op->kernel) missing << QString::fromUtf8(name);
            }
        }
        QVERIFY(count > 500);
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join(' ')));
    }

    /// The methods of torch.Tensor: toward zero for integers, modulo 256 for uint8; a bool is what is not 0.
    void conversionsByName() {
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const struct {
            const char* name;
            DType dtype;
            std::array<double, 3> values;
        } rows[] = {
            {"float", DType::Float32, {-1.5, 0, 2.75}}, {"double", DType::Float64, {-1.5, 0, 2.75}},
            {"half", DType::Float16, {-1.5, 0, 2.75}},  {"bfloat16", DType::BFloat16, {-1.5, 0, 2.75}},
            {"long", DType::Int64, {-1, 0, 2}},         {"int", DType::Int32, {-1, 0, 2}},
            {"short", DType::Int16, {-1, 0, 2}},        {"char", DType::Int8, {-1, 0, 2}},
            {"byte", DType::UInt8, {255, 0, 2}},        {"bool", DType::Bool, {1, 0, 1}},
        };
        const std::vector<Value> x{Value(Tensor::of<float>({3}, std::vector<float>{-1.5F, 0, 2.75F})), Value()};
        for (const auto& row : rows) {
            const ops::OpDef* op = ops::Registry::all().find("aten", row.name, 0);
            QVERIFY2(op && op->kernel, row.name);
            const auto result = ops::call(*op, x, {}, 1, environment);
            QVERIFY2(result, row.name);
            const Tensor& y = result->front().tensor();
            QVERIFY2(y.dtype() == row.dtype, row.name);
            for (std::int64_t i = 0; i < 3; ++i)
                QVERIFY2(y.toDouble(i) == row.values[static_cast<std::size_t>(i)], row.name);
        }
    }

    /// In-place forms come from the others and keep the receiver's dtype.
    void inPlaceFormsKeepTheDtype() {
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const ops::OpDef* op = ops::Registry::all().find("aten", "gt_.Scalar", 0);
        QVERIFY(op);
        const std::vector<Value> inputs{Value(Tensor::of<float>({2}, {1.0F, 3.0F})), Value::ofInt(2)};
        const auto result = ops::call(*op, inputs, {}, 1, environment);
        QVERIFY(result);
        QCOMPARE(result->front().tensor().dtype(), DType::Float32);
        QCOMPARE(result->front().tensor().toDouble(1), 1.0);
    }

    void randomNumbersFollowTheSeed() {
        base::ThreadPool pool(1);
        const ops::OpDef* op = ops::Registry::all().find("aten", "randn", 0);
        QVERIFY(op && op->random);
        const auto draw = [&](std::uint64_t seed) {
            ops::RunEnvironment environment;
            environment.pool = &pool;
            environment.seed = seed;
            const std::vector<Value> size{Value::list({Value::ofInt(1000)})};
            return ops::call(*op, size, {}, 1, environment)->front().tensor();
        };
        QVERIFY(tensor::identical(draw(3), draw(3)));
        QVERIFY(!tensor::identical(draw(3), draw(4)));
        double sum = 0, squares = 0;
        const Tensor x = draw(3);
        for (float v : x.span<float>()) {
            sum += static_cast<double>(v);
            squares += static_cast<double>(v * v);
        }
        QVERIFY(std::abs(sum / 1000) < 0.15);
        QVERIFY(std::abs(squares / 1000 - 1) < 0.2);
    }
};

QTEST_GUILESS_MAIN(TestAten)

}  // namespace tst_aten

#include "tst_aten.moc"
