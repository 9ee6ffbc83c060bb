// ATen operators against PyTorch: every line of tests/data/aten/cases.jsonl is a call and what PyTorch gave for it.

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <cmath>
#include <complex>

#include "core/ops/registry/registry.h"

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

DType dtypeNamed(const QString& name) {
    static const QHash<QString, DType> names{{"f32", DType::Float32}, {"f64", DType::Float64}, {"i64", DType::Int64}, {"i32", DType::Int32}, {"u8", DType::UInt8}, {"i8", DType::Int8},
                                             {"i16", DType::Int16},   {"bool", DType::Bool},   {"c64", DType::Complex64}, {"f16", DType::Float16}};
    return names.value(name, DType::Undefined);
}

double numberIn(const QJsonValue& value) {
    if (value.isString()) return value.toString() == "nan" ? NAN : value.toString() == "inf" ? INFINITY : -INFINITY;
    return value.toDouble();
}

Tensor tensorIn(const QJsonObject& object) {
    std::vector<std::int64_t> dims;
    for (const QJsonValue& dim : object["s"].toArray()) dims.push_back(dim.toInteger());
    const DType dtype = dtypeNamed(object["t"].toString());
    std::vector<double> numbers;
    for (const QJsonValue& number : object["v"].toArray()) numbers.push_back(numberIn(number));
    if (dtype == DType::Complex64) {
        std::vector<std::complex<float>> pairs;
        for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.emplace_back(static_cast<float>(numbers[i]), static_cast<float>(numbers[i + 1]));
        return Tensor::of<std::complex<float>>(Shape(dims), pairs);
    }
    return Tensor::of<double>(Shape(dims), numbers).cast(dtype).value();
}

Value valueIn(const QJsonValue& json) {
    if (json.isNull()) return Value();
    if (json.isBool()) return Value::ofBool(json.toBool());
    if (json.isString()) {
        const QString text = json.toString();
        if (text == "inf" || text == "-inf" || text == "nan") return Value::ofFloat(numberIn(json));
        return Value(text.toStdString());
    }
    if (json.isDouble()) return Value::ofFloat(json.toDouble());
    if (json.isArray()) {
        tensor::ValueList items;
        for (const QJsonValue& item : json.toArray()) items.push_back(valueIn(item));
        return Value::list(std::move(items));
    }
    const QJsonObject object = json.toObject();
    return object.contains("i") ? Value::ofInt(object["i"].toInteger()) : Value(tensorIn(object));
}

bool close(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= 2e-5 + 2e-5 * std::abs(b);
}

/// Nothing, or what differs.
QString difference(const Value& found, const Value& wanted) {
    if (wanted.isTensor()) {
        if (!found.isTensor()) return QString::fromStdString("is " + found.typeText() + ", not a tensor");
        const Tensor &a = found.tensor(), &b = wanted.tensor();
        if (a.dtype() != b.dtype() || a.shape() != b.shape()) return QString::fromStdString("is " + a.typeText() + " instead of " + b.typeText());
        if (tensor::isComplex(b.dtype())) {
            const Tensor p = a.contiguous()->cast(DType::Complex128).value(), q = b.cast(DType::Complex128).value();
            for (std::int64_t i = 0; i < q.numel(); ++i) {
                const auto x = p.data<std::complex<double>>()[i], y = q.data<std::complex<double>>()[i];
                if (!close(x.real(), y.real()) || !close(x.imag(), y.imag())) return QString("element %1 is %2 + %3i instead of %4 + %5i").arg(i).arg(x.real()).arg(x.imag()).arg(y.real()).arg(y.imag());
            }
            return {};
        }
        for (std::int64_t i = 0; i < b.numel(); ++i) {
            if (!close(a.toDouble(i), b.toDouble(i))) return QString("element %1 is %2 instead of %3").arg(i).arg(a.toDouble(i)).arg(b.toDouble(i));
        }
        return {};
    }
    if (wanted.isListLike()) {
        if (!found.isListLike() || found.items().size() != wanted.items().size()) return QString::fromStdString("is " + found.typeText() + " instead of " + wanted.typeText());
        for (std::size_t i = 0; i < wanted.items().size(); ++i) {
            if (const QString text = difference(found.items()[i], wanted.items()[i]); !text.isEmpty()) return QString("item %1 ").arg(i) + text;
        }
        return {};
    }
    if (wanted.isNumber() && found.isNumber() && close(found.number(), wanted.number())) return {};
    return QString::fromStdString("is " + found.text() + " instead of " + wanted.text());
}

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
            QTest::newRow(qPrintable(QString("%1 %2").arg(number).arg(QJsonDocument::fromJson(line)["op"].toString()))) << line;
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
        for (const QJsonValue& argument : call["in"].toArray()) inputs.push_back(valueIn(argument));
        const QJsonObject keywords = call["kw"].toObject();
        for (std::size_t i = inputs.size(); i < op->parameters.size(); ++i) {
            const ops::Parameter& parameter = op->parameters[i];
            const QString key = QString::fromUtf8(parameter.name.data(), static_cast<qsizetype>(parameter.name.size()));
            QVERIFY2(keywords.contains(key) || parameter.fallback, qPrintable("argument missing: " + key));
            inputs.push_back(keywords.contains(key) ? valueIn(keywords[key]) : *parameter.fallback);
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
            const QString text = difference((*results)[static_cast<std::size_t>(i)], valueIn(wanted[i]));
            QVERIFY2(text.isEmpty(), qPrintable(QString("result %1 ").arg(i) + text));
        }
        // Inference must not contradict.
        std::vector<tensor::TypeInfo> types;
        for (const Value& input : inputs) types.push_back(tensor::TypeInfo::of(input));
        std::vector<Value> constants;
        for (const Value& input : inputs) constants.push_back(input.isTensor() ? Value() : input);
        const auto inferred = ops::infer(*op, types, constants, {}, 1);
        QVERIFY2(inferred, inferred ? "" : inferred.error().text().c_str());
        const tensor::TypeInfo& type = inferred->types.front();
        if (!type.isTensor() || !results->front().isTensor()) return;
        const Tensor& real = results->front().tensor();
        if (type.dtype != DType::Undefined) QCOMPARE(QString::fromStdString(std::string(tensor::name(type.dtype))), QString::fromStdString(std::string(tensor::name(real.dtype()))));
        if (!type.shape) return;
        QCOMPARE(type.shape->size(), real.rank());
        for (std::size_t i = 0; i < real.rank(); ++i) {
            if ((*type.shape)[i].known()) QCOMPARE((*type.shape)[i].value, real.dim(i));
        }
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
#include "tst_aten.moc"
