// Every row's kernel and inference run with stand-ins for their arguments: none may ask for a name that the row lacks.
// tst_parameter_names reads the branches that stand-ins do not reach.

#include <QtTest>

#include "core/ops/registry/registry.h"
#include "tests/support/forked.h"

namespace tst_row_names {

using namespace sonde;

namespace {

using ops::Value;

/// What a parameter may be given so that a kernel gets past its first look at it.
Value standIn(const ops::OpDef& op, std::size_t input, const tensor::Shape& shape) {
    const ops::Formal& formal = op.inputs[input];
    if (op.parameters.size() == op.inputs.size()) {
        const ops::Parameter& parameter = op.parameters[input];
        const std::string_view type = parameter.type;
        if (parameter.fallback && !parameter.fallback->isNone()) return *parameter.fallback;
        if (type.starts_with("Tensor["))
            return Value::list({Value(tensor::Tensor::zeros(tensor::DType::Float32, shape).value())});
        if (type.starts_with("bool")) return Value::ofBool(true);
        if (type.starts_with("str")) return Value(std::string("none"));
        if (type.starts_with("float[")) return Value::list({Value::ofFloat(1), Value::ofFloat(1)});
        if (type.find('[') != std::string_view::npos) return Value::list({Value::ofInt(1), Value::ofInt(1)});
        if (type.starts_with("float") || type.starts_with("Scalar")) return Value::ofFloat(1);
        if (!type.starts_with("Tensor")) return Value::ofInt(1);
    }
    for (const tensor::DType dtype :
         {tensor::DType::Float32, tensor::DType::Int64, tensor::DType::UInt8, tensor::DType::Bool}) {
        if ((formal.dtypes & ops::bit(dtype)) != 0) return Value(tensor::Tensor::zeros(dtype, shape).value());
    }
    return Value();
}

ops::Attributes standInAttributes(const ops::OpDef& op) {
    ops::Attributes attributes;
    for (const ops::FormalAttribute& formal : op.attributes) {
        if (!formal.required) continue;
        if (formal.kind == ops::AttributeKind::Int) attributes.set(std::string(formal.name), std::int64_t{1});
        else if (formal.kind == ops::AttributeKind::Float) attributes.set(std::string(formal.name), 1.0);
        else if (formal.kind == ops::AttributeKind::String)
            attributes.set(std::string(formal.name), std::string("none"));
        else if (formal.kind == ops::AttributeKind::Ints)
            attributes.set(std::string(formal.name), std::vector<std::int64_t>{1, 1});
    }
    return attributes;
}

}  // namespace

class TestRowNames : public QObject {
    Q_OBJECT

  private slots:
    void everyRowAsksForItsOwnNames();
};

namespace {

/// The first error of a call or an inference with stand-ins of these dimensions that is about a name.
QByteArray wrongName(const ops::OpDef& op, const tensor::Shape& shape, bool withOptional) {
    std::vector<Value> inputs;
    std::vector<tensor::TypeInfo> types;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const bool isLeftOut = op.inputs[i].arity == ops::Arity::Optional && !withOptional;
        inputs.push_back(isLeftOut ? Value() : standIn(op, i, shape));
        types.push_back(tensor::TypeInfo::of(inputs.back()));
    }
    const std::vector<tensor::TypeInfo> open(types.size());
    const ops::Attributes attributes = standInAttributes(op);
    const std::size_t outputs = std::max<std::size_t>(op.outputs.size(), 1);
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{.pool = &pool};
    QByteArray wrong;
    const auto check = [&](const auto& result) {
        const std::string text = result ? std::string() : result.error().text();
        const bool isName = text.find("the schema has no") != std::string::npos ||
                            text.find("names are looked up") != std::string::npos;
        if (isName && wrong.isEmpty()) wrong = QByteArray::fromStdString(text);
    };
    check(ops::call(op, inputs, attributes, outputs, environment));
    if (op.infer) {
        check(ops::infer(op, types, inputs, attributes, outputs));
        check(ops::infer(op, types, {}, attributes, outputs));
        check(ops::infer(op, open, {}, attributes, outputs));
    }
    return wrong;
}

}  // namespace

/// Whatever else the stand-ins make a kernel say, never that it looked for a name which its row lacks. Nor do they make
/// it crash.
void TestRowNames::everyRowAsksForItsOwnNames() {
    std::vector<const ops::OpDef*> rows;
    for (const ops::OpDef* op : ops::Registry::all().rows()) {
        if (op->kernel) rows.push_back(op);
    }
    QVERIFY2(rows.size() > 1000, qPrintable(QString::number(rows.size())));
    const auto results = test::runForked(static_cast<int>(rows.size()), {}, [&](int i) {
        QByteArray wrong;
        for (const tensor::Shape& shape :
             {tensor::Shape{1}, tensor::Shape{2, 2}, tensor::Shape{1, 2, 2}, tensor::Shape{1, 1, 2, 2}}) {
            for (const bool withOptional : {false, true}) {
                if (wrong.isEmpty()) wrong = wrongName(*rows[static_cast<std::size_t>(i)], shape, withOptional);
            }
        }
        return wrong;
    });
    QCOMPARE(static_cast<std::size_t>(results.size()), rows.size());
    QStringList wrong;
    for (qsizetype i = 0; i < results.size(); ++i) {
        if (results[i].kind == test::CaseResult::Passed) continue;
        const ops::OpDef& op = *rows[static_cast<std::size_t>(i)];
        wrong << QStringLiteral("%1::%2 since %3: signal %4 %5")
                     .arg(QString::fromStdString(std::string(op.domain)))
                     .arg(QString::fromStdString(std::string(op.name)))
                     .arg(op.since)
                     .arg(results[i].signal)
                     .arg(QString::fromUtf8(results[i].text));
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
}

QTEST_APPLESS_MAIN(TestRowNames)

}  // namespace tst_row_names

#include "tst_row_names.moc"
