// FLOPs, multiply-adds and bytes of operators that do the work of several, by hand; inputs are those of ONNX Runtime's
// page "Contrib Operators".

#include <QtTest>

#include "core/operators/cost.h"
#include "core/operators/tables.h"
#include "core/ops/registry/registry.h"

namespace tst_fused_cost {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;
using tensor::Value;

namespace {

TypeInfo f32(Shape shape) { return TypeInfo::tensor(DType::Float32, shape); }
TypeInfo i32(Shape shape) { return TypeInfo::tensor(DType::Int32, shape); }
TypeInfo i8(Shape shape) { return TypeInfo::tensor(DType::Int8, shape); }
TypeInfo u8(Shape shape) { return TypeInfo::tensor(DType::UInt8, shape); }
TypeInfo none() { return TypeInfo::of(Value()); }

struct Case {
    std::string_view domain, name;
    std::vector<TypeInfo> inputs, outputs;
    tensor::Attributes attributes = {};
    std::vector<Value> constants = {};

    QString text() const {
        const operators::Cost cost = operators::costOf({domain, name, inputs, outputs, constants, &attributes});
        return QString::fromStdString(cost.flops.text() + " " + cost.multiplyAdds.text() + " " + cost.bytes.text());
    }
};

constexpr std::string_view kContrib = "com.microsoft";
constexpr std::int64_t kOne = 1, kTwo = 2;

}  // namespace

class TestFusedCost : public QObject {
    Q_OBJECT

  private slots:
    void workedByHand_data();
    void workedByHand();
    void lengthsOfCachesMayBeUnknown();
    void whatRunsHasAFormula();
};

void TestFusedCost::workedByHand_data() {
    QTest::addColumn<QString>("expected");  // FLOPs, multiply-adds, bytes
    QTest::addColumn<QString>("actual");
    const auto row = [](const char* name, std::int64_t flops, std::int64_t products, std::int64_t bytes,
                        const Case& call) {
        QTest::newRow(name) << QStringLiteral("%1 %2 %3").arg(flops).arg(products).arg(bytes) << call.text();
    };
    const std::string relu = "Relu";

    // Projection 3·4·12 with 3·12 biases; 2 heads: scores 3·4·3, values 12·3, 18 softmax elements.
    row("Attention", 2 * (144 + 72) + 36 + 6 * 18, 144 + 72, 4 * (12 + 48 + 12 + 12),
        {kContrib, "Attention", {f32({1, 3, 4}), f32({4, 12}), f32({12})}, {f32({1, 3, 4})}, {{"num_heads", kTwo}}});
    // Behind 5 past positions, masked: scores 3·4·8, values 12·8, 48 softmax elements with one sum more.
    row("Attention with a past", 2 * (144 + 192) + 36 + 7 * 48, 144 + 192, 4 * (12 + 48 + 12 + 8 + 40 + 12 + 64),
        {kContrib,
         "Attention",
         {f32({1, 3, 4}), f32({4, 12}), f32({12}), i32({1, 8}), f32({2, 1, 2, 5, 2})},
         {f32({1, 3, 4}), f32({2, 1, 2, 8, 2})},
         {{"num_heads", kTwo}}});
    row("Attention with other values", 2 * (168 + 36 + 54) + 6 * 18, 168 + 36 + 54, 4 * (12 + 56 + 18),
        {kContrib,
         "Attention",
         {f32({1, 3, 4}), f32({4, 14})},
         {f32({1, 3, 6})},
         {{"num_heads", kTwo}, {"qkv_hidden_sizes", std::vector<std::int64_t>{4, 4, 6}}}});
    row("QAttention", 2 * (144 + 72) + 36 + 6 * 18, 144 + 72, 12 + 48 + 4 * (12 + 1 + 1 + 12),
        {kContrib,
         "QAttention",
         {u8({1, 3, 4}), i8({4, 12}), f32({12}), f32({}), f32({})},
         {f32({1, 3, 4})},
         {{"num_heads", kTwo}}});
    // One position, 5 past ones.
    row("DecoderMaskedMultiHeadAttention", 2 * (48 + 48) + 6 * 12, 48 + 48, 4 * (24 + 80 + 8),
        {kContrib,
         "DecoderMaskedMultiHeadAttention",
         {f32({1, 1, 8}), f32({1, 1, 8}), f32({1, 1, 8}), none(), none(), f32({1, 2, 5, 4}), f32({1, 2, 5, 4})},
         {f32({1, 1, 8})},
         {{"num_heads", kTwo}}});
    // 24 numbers of queries and 12 of keys are turned, at 3 operations each.
    row("GroupQueryAttention", 2 * (72 + 72) + 6 * 18 + 3 * (24 + 12), 72 + 72,
        4 * (24 + 12 + 12 + 1 + 1 + 20 + 20 + 24),
        {kContrib,
         "GroupQueryAttention",
         {f32({1, 3, 8}), f32({1, 3, 4}), f32({1, 3, 4}), none(), none(), i32({1}), i32({}), f32({10, 2}),
          f32({10, 2})},
         {f32({1, 3, 8})},
         {{"num_heads", kTwo}, {"kv_num_heads", kOne}, {"do_rotary", kOne}}});
    for (const std::string_view domain : {std::string_view(), kContrib}) {
        row(domain.empty() ? "RotaryEmbedding" : "RotaryEmbedding, contrib", 3 * 24, 0, 4 * (24 + 6 + 6 + 24),
            {domain, "RotaryEmbedding", {f32({1, 3, 8}), f32({3, 2}), f32({3, 2})}, {f32({1, 3, 8})}});
        row(domain.empty() ? "GridSample" : "GridSample, contrib", 2 * 4 * 18, 0, 4 * (32 + 18 + 18),
            {domain, "GridSample", {f32({1, 2, 4, 4}), f32({1, 3, 3, 2})}, {f32({1, 2, 3, 3})}});
    }
    row("RotaryEmbedding of 2 of 4 numbers", 3 * 3 * 2 * 2, 0, 4 * (24 + 24),
        {"",
         "RotaryEmbedding",
         {f32({1, 3, 8})},
         {f32({1, 3, 8})},
         {{"num_heads", kTwo}, {"rotary_embedding_dim", kTwo}}});
    row("GridSample of the nearest", 0, 0, 4 * (32 + 18 + 18),
        {"",
         "GridSample",
         {f32({1, 2, 4, 4}), f32({1, 3, 3, 2})},
         {f32({1, 2, 3, 3})},
         {{"mode", std::string("nearest")}}});

    // 2·3·3 taps for each of 100 results; bias, what is added, activation.
    row("FusedConv", 2 * 1800 + 300, 1800, 4 * (98 + 72 + 4 + 100 + 100),
        {kContrib,
         "FusedConv",
         {f32({1, 2, 7, 7}), f32({4, 2, 3, 3}), f32({4}), f32({1, 4, 5, 5})},
         {f32({1, 4, 5, 5})},
         {{"activation", relu}}});
    row("FusedConv of nothing more", 2 * 1800, 1800, 4 * (98 + 72 + 100),
        {kContrib, "FusedConv", {f32({1, 2, 7, 7}), f32({4, 2, 3, 3})}, {f32({1, 4, 5, 5})}});
    row("FusedGemm", 2 * 24 + 8 + 8, 24, 4 * (6 + 12 + 4 + 8),
        {kContrib,
         "FusedGemm",
         {f32({3, 2}), f32({3, 4}), f32({4})},
         {f32({2, 4})},
         {{"transA", kOne}, {"activation", relu}}});
    row("FusedMatMulActivation", 2 * 24 + 5 * 8, 24, 4 * (6 + 12 + 8),
        {kContrib,
         "FusedMatMulActivation",
         {f32({2, 3}), f32({3, 4})},
         {f32({2, 4})},
         {{"activation", std::string("Softmax")}}});
    row("GemmFastGelu", 2 * 24 + 16, 24, 4 * (6 + 12 + 4 + 8),
        {kContrib, "GemmFastGelu", {f32({2, 3}), f32({3, 4}), f32({4})}, {f32({2, 4})}});

    // Two sums, 5 of the norm, weight and bias.
    row("SkipLayerNormalization", 12 * (2 + 5 + 2), 0, 4 * (12 + 12 + 4 + 4 + 4 + 12),
        {kContrib,
         "SkipLayerNormalization",
         {f32({1, 3, 4}), f32({1, 3, 4}), f32({4}), f32({4}), f32({4})},
         {f32({1, 3, 4})}});
    row("SkipLayerNormalization without biases", 12 * (1 + 5 + 1), 0, 4 * (12 + 12 + 4 + 12),
        {kContrib, "SkipLayerNormalization", {f32({1, 3, 4}), f32({1, 3, 4}), f32({4})}, {f32({1, 3, 4})}});
    row("SkipSimplifiedLayerNormalization", 12 * (1 + 3 + 1), 0, 4 * (12 + 12 + 4 + 12),
        {kContrib, "SkipSimplifiedLayerNormalization", {f32({1, 3, 4}), f32({1, 3, 4}), f32({4})}, {f32({1, 3, 4})}});
    row("EmbedLayerNormalization", 12 * (2 + 7), 0, 4 * (3 + 3 + 40 + 20 + 8 + 4 + 4 + 12),
        {kContrib,
         "EmbedLayerNormalization",
         {i32({1, 3}), i32({1, 3}), f32({10, 4}), f32({5, 4}), f32({2, 4}), f32({4}), f32({4})},
         {f32({1, 3, 4})}});
    row("GroupNorm", 16 * 8, 0, 4 * (16 + 4 + 4 + 16),
        {kContrib,
         "GroupNorm",
         {f32({1, 2, 2, 4}), f32({4}), f32({4})},
         {f32({1, 2, 2, 4})},
         {{"activation", kOne}, {"groups", kTwo}}});
    row("Gelu", 12, 0, 4 * 24, {kContrib, "Gelu", {f32({3, 4})}, {f32({3, 4})}});
    row("FastGelu", 24, 0, 4 * 28, {kContrib, "FastGelu", {f32({3, 4}), f32({4})}, {f32({3, 4})}});
    // 24 sums, 12 of gelu, 12 products.
    row("BiasSplitGelu", 24 + 12 + 12, 0, 4 * (24 + 8 + 12),
        {kContrib, "BiasSplitGelu", {f32({1, 3, 8}), f32({8})}, {f32({1, 3, 4})}});
    row("CDist", 6 * 3 * 4, 0, 4 * (8 + 12 + 6), {kContrib, "CDist", {f32({2, 4}), f32({3, 4})}, {f32({2, 3})}});

    // 3 tokens by 2 experts each: 6·(4·6 + 6·4), 6·6 biases and activations; softmax of 15, sums of 2 by 12.
    row("MoE", 2 * 288 + 2 * 36 + 5 * 15 + 2 * 2 * 12, 288, 4 * (12 + 15 + 120 + 30 + 120 + 12),
        {kContrib,
         "MoE",
         {f32({3, 4}), f32({3, 5}), f32({5, 6, 4}), f32({5, 6}), f32({5, 4, 6})},
         {f32({3, 4})},
         {{"k", kTwo}}});
    // Weights of 4 bits: two in a byte.
    row("QMoE", 2 * 288 + 36 + 5 * 15 + 2 * 2 * 12, 288, 4 * (12 + 15) + 60 + 4 * 30 + 60 + 4 * 20 + 4 * 12,
        {kContrib,
         "QMoE",
         {f32({3, 4}), f32({3, 5}), u8({5, 6, 2}), f32({5, 6}), none(), u8({5, 4, 3}), f32({5, 4})},
         {f32({3, 4})},
         {{"k", kTwo}}});
    // Elimination of 3 rows: 2 + 1 quotients, 4 + 1 products with a difference each; 2 products of the diagonal.
    row("Det", 2 * (3 + 2 * 5 + 2), 0, 4 * (18 + 2), {"", "Det", {f32({2, 3, 3})}, {f32({2})}});
    // 4 powers and sums for each of 4 results, and the root.
    row("LpPool", 4 * (2 * 4 + 1), 0, 4 * (16 + 4),
        {"", "LpPool", {f32({1, 1, 4, 4})}, {f32({1, 1, 2, 2})}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}});
    // As LSTM: 5 steps of 4 gates, 4 sums and 9 more on each of 4 numbers.
    row("DynamicQuantizeLSTM", 2 * 5 * (48 + 64) + 5 * 4 * 13, 5 * (48 + 64), 4 * 15 + 48 + 64 + 4 * 20,
        {kContrib, "DynamicQuantizeLSTM", {f32({5, 1, 3}), i8({1, 3, 16}), i8({1, 4, 16})}, {f32({5, 1, 1, 4})}});
}

void TestFusedCost::workedByHand() {
    QFETCH(const QString, expected);
    QFETCH(const QString, actual);
    QCOMPARE(actual, expected);
}

/// A buffer may be longer than what is in it.
void TestFusedCost::lengthsOfCachesMayBeUnknown() {
    Case call{
        kContrib,
        "GroupQueryAttention",
        {f32({1, 1, 8}), f32({1, 1, 4}), f32({1, 1, 4}), f32({1, 1, 16, 4}), f32({1, 1, 16, 4}), i32({1}), i32({})},
        {f32({1, 1, 8})},
        {{"num_heads", kTwo}, {"kv_num_heads", kOne}}};
    QVERIFY(call.text().startsWith(QStringLiteral("? ?")));
    call.constants = {{}, {}, {}, {}, {}, {}, Value(tensor::Tensor::of<std::int32_t>({}, {7}))};
    // 7 keys: 8·7 products for scores and for values, 14 softmax elements.
    QVERIFY2(call.text().startsWith(QStringLiteral("308 112 ")), qPrintable(call.text()));
}

/// But for few, of which nobody states a number.
void TestFusedCost::whatRunsHasAFormula() {
    QStringList without;
    for (const ops::OpDef* const op : ops::Registry::all().rows()) {
        if (op->domain != kContrib) continue;
        const operators::CostRule rule = operators::costRuleOf(op->domain, op->name);
        const bool isByClass = rule == operators::CostRule::ByClass;
        const operators::Traits& traits = operators::traitsOf(op->domain, op->name);
        const bool says = traits.is(operators::Trait::ElementWise) || traits.opClass != operators::OpClass::Other;
        if (rule == operators::CostRule::Unknown || (isByClass && !says))
            without << QString::fromUtf8(op->name.data(), static_cast<qsizetype>(op->name.size()));
    }
    without.sort();
    without.removeDuplicates();
    QCOMPARE(without.join(u' '), QStringLiteral("Inverse Irfft Rfft Unique"));
}

QTEST_APPLESS_MAIN(TestFusedCost)

}  // namespace tst_fused_cost

#include "tst_fused_cost.moc"
