// Inference by trial: sums and products of open dimensions, results that depend on the data, sizes that are not tried.

#include <QtTest>

#include "core/ops/registry/registry.h"

namespace tst_trial {

using namespace sonde;
using tensor::Dim;
using tensor::DType;
using tensor::TypeInfo;
using tensor::Value;

namespace {

QString inferred(std::string_view name, std::vector<TypeInfo> types, std::vector<Value> constants) {
    const ops::OpDef* op = ops::Registry::all().find("aten", name, 0);
    if (!op || !op->infer) return QStringLiteral("no rule");
    for (std::size_t i = types.size(); i < op->parameters.size(); ++i) {
        constants.resize(i);
        constants.push_back(op->parameters[i].fallback.value_or(Value()));
        types.push_back(TypeInfo::of(constants.back()));
    }
    const auto result = ops::infer(*op, types, constants, {}, op->outputs.size());
    if (!result) return QString::fromStdString(result.error().what);
    QStringList texts;
    for (const TypeInfo& type : result->types) texts << QString::fromStdString(type.text());
    return texts.join(' ');
}

TypeInfo open(std::initializer_list<Dim> dims, DType dtype = DType::Float32) {
    return TypeInfo::tensor(dtype, std::vector<Dim>(dims));
}

}  // namespace

class TestTrial : public QObject {
    Q_OBJECT

  private slots:
    void dimSizesFollowSymbols() {
        const TypeInfo nm = open({Dim::named("N"), Dim::of(8)});
        QCOMPARE(inferred("glu", {nm}, {}), QString("float32[N,4]"));
        QCOMPARE(inferred("tile", {nm, TypeInfo::of(Value::list({Value::ofInt(3), Value::ofInt(1)}))},
                          {Value(), Value::list({Value::ofInt(3), Value::ofInt(1)})}),
                 QString("float32[3*N,8]"));
        QCOMPARE(inferred("ravel", {nm}, {}), QString("float32[8*N]"));
        QCOMPARE(inferred("kron", {nm, open({Dim::named("M"), Dim::of(2)})}, {}), QString("float32[M*N,16]"));
        QCOMPARE(inferred("diff", {open({Dim::named("N")})}, {}), QString("float32[N-1]"));
        QCOMPARE(inferred("outer", {open({Dim::named("N")}), open({Dim{}})}, {}), QString("float32[N,?]"));
        QCOMPARE(inferred("topk", {nm, TypeInfo::of(Value::ofInt(3))}, {Value(), Value::ofInt(3)}),
                 QString("float32[N,3] int64[N,3]"));
    }
    void whatDependsOnTheDataStaysOpen() {
        QCOMPARE(inferred("masked_select", {open({Dim::of(4)}), open({Dim::of(4)}, DType::Bool)}, {}),
                 QString("float32[?]"));
        QCOMPARE(inferred("bincount", {open({Dim::of(4)}, DType::Int64)}, {}), QString("int64[?]"));
    }
    void nothingLargeIsMade() {
        const Value many = Value::ofInt(std::int64_t{1} << 40);
        QCOMPARE(inferred("eye", {TypeInfo::of(many)}, {many}), QString("?"));
        QCOMPARE(inferred("outer", {open({Dim::of(4000000)}), open({Dim::of(4000000)})}, {}), QString("?"));
        QCOMPARE(inferred("arange", {TypeInfo::of(many)}, {many}), QString("int64[1099511627776]"));
    }
};

QTEST_APPLESS_MAIN(TestTrial)

}  // namespace tst_trial

#include "tst_trial.moc"
