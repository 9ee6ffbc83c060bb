// FLOPs and bytes of operators, by hand.

#include <QtTest>

#include "core/operators/cost.h"

namespace tst_cost {

using namespace sonde;
using operators::Cost;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;
using tensor::Value;

namespace {

TypeInfo f32(Shape shape) { return TypeInfo::tensor(DType::Float32, shape); }
TypeInfo plain(const Value& value) { return TypeInfo::of(value); }
Value ints(std::initializer_list<std::int64_t> numbers) {
    tensor::ValueList items;
    for (const std::int64_t number : numbers) items.push_back(Value::ofInt(number));
    return Value::list(std::move(items));
}

TypeInfo tuple(std::vector<TypeInfo> elements) {
    TypeInfo type;
    type.kind = tensor::ValueKind::Tuple;
    type.elements = std::move(elements);
    return type;
}

struct Case {
    std::string_view domain, name;
    std::vector<TypeInfo> inputs;
    std::vector<TypeInfo> outputs;
    tensor::Attributes attributes = {};
    std::vector<Value> constants = {};

    Cost cost() const { return operators::costOf({domain, name, inputs, outputs, constants, &attributes}); }
};

QString textOf(const Cost& cost) {
    return QString::fromStdString(cost.flops.text() + " " + cost.multiplyAdds.text() + " " + cost.bytes.text());
}

}  // namespace

class TestCost : public QObject {
    Q_OBJECT

  private slots:
    void workedByHand_data();
    void workedByHand();
    void symbolsStay();
    void unknownStaysUnknown();
    void joinedListsAreReadAsTheyAreWritten();
    void longSumsHaveTheirParts();
};

void TestCost::workedByHand_data() {
    QTest::addColumn<QString>("expected");  // FLOPs, multiply-adds, bytes
    QTest::addColumn<QString>("actual");
    const auto row = [](const char* name, std::int64_t flops, std::int64_t products, std::int64_t bytes,
                        const Case& call) {
        QTest::newRow(name) << QStringLiteral("%1 %2 %3").arg(flops).arg(products).arg(bytes) << textOf(call.cost());
    };
    const Value none, stride = ints({1, 1}), no = Value::ofBool(false), yes = Value::ofBool(true);
    const auto n = [](std::int64_t number) { return Value::ofInt(number); };

    // 2·3·3 taps for each of 1·4·5·5 results, a bias for each.
    row("conv2d", 2 * 18 * 100 + 100, 18 * 100, 4 * (98 + 72 + 4 + 100),
        {"aten", "conv2d", {f32({1, 2, 7, 7}), f32({4, 2, 3, 3}), f32({4})}, {f32({1, 4, 5, 5})}});
    row("Conv in groups, no bias", 2 * 9 * 200, 9 * 200, 4 * (8 * 49 + 72 + 200),
        {"", "Conv", {f32({1, 8, 7, 7}), f32({8, 1, 3, 3})}, {f32({1, 8, 5, 5})}, {{"group", std::int64_t{8}}}});
    // Each of 2·3·3 elements goes to 4·2·2 results.
    row("ConvTranspose", 2 * 18 * 16, 18 * 16, 4 * (18 + 32 + 64),
        {"", "ConvTranspose", {f32({1, 2, 3, 3}), f32({2, 4, 2, 2})}, {f32({1, 4, 4, 4})}});
    const auto either = [&](const Value& transposed, Shape out) {
        return Case{"aten",
                    "_convolution",
                    {f32({1, 2, 3, 3}), f32({2, 2, 2, 2}), plain(none), plain(stride), plain(stride), plain(stride),
                     plain(transposed)},
                    {f32(out)},
                    {},
                    {none, none, none, stride, stride, stride, transposed}};
    };
    row("_convolution", 2 * 8 * 8, 8 * 8, 4 * (18 + 16 + 8), either(no, {1, 2, 2, 2}));
    row("_convolution, transposed", 2 * 8 * 18, 8 * 18, 4 * (18 + 16 + 32), either(yes, {1, 2, 4, 4}));
    row("QLinearConv", 2 * 9 * 25 + 25, 9 * 25, 49 + 9 + 25 + 4 * 3 + 3 + 4,
        {"",
         "QLinearConv",
         {TypeInfo::tensor(DType::UInt8, Shape{1, 1, 7, 7}), f32({}), TypeInfo::tensor(DType::UInt8, Shape{}),
          TypeInfo::tensor(DType::UInt8, Shape{1, 1, 3, 3}), f32({}), TypeInfo::tensor(DType::UInt8, Shape{}), f32({}),
          TypeInfo::tensor(DType::UInt8, Shape{}), TypeInfo::tensor(DType::Int32, Shape{1})},
         {TypeInfo::tensor(DType::UInt8, Shape{1, 1, 5, 5})}});

    row("linear", 2 * 3 * 8 * 5 + 15, 3 * 8 * 5, 4 * (24 + 40 + 5 + 15),
        {"aten", "linear", {f32({3, 8}), f32({5, 8}), f32({5})}, {f32({3, 5})}});
    row("batched MatMul", 2 * 7 * 2 * 3 * 4 * 5, 7 * 2 * 3 * 4 * 5, 4 * (7 * 2 * 12 + 20 + 7 * 2 * 15),
        {"", "MatMul", {f32({7, 2, 3, 4}), f32({4, 5})}, {f32({7, 2, 3, 5})}});
    row("Gemm, A transposed", 2 * 3 * 4 * 5 + 15, 3 * 4 * 5, 4 * (12 + 20 + 5 + 15),
        {"", "Gemm", {f32({4, 3}), f32({4, 5}), f32({5})}, {f32({3, 5})}, {{"transA", std::int64_t{1}}}});
    row("addmm", 2 * 3 * 4 * 5 + 15, 3 * 4 * 5, 4 * (5 + 12 + 20 + 15),
        {"aten", "addmm", {f32({5}), f32({3, 4}), f32({4, 5})}, {f32({3, 5})}});
    row("bmm", 2 * 2 * 3 * 4 * 5, 2 * 3 * 4 * 5, 4 * (24 + 40 + 30),
        {"aten", "bmm", {f32({2, 3, 4}), f32({2, 4, 5})}, {f32({2, 3, 5})}});
    row("baddbmm", 2 * 2 * 3 * 4 * 5 + 30, 2 * 3 * 4 * 5, 4 * (30 + 24 + 40 + 30),
        {"aten", "baddbmm", {f32({2, 3, 5}), f32({2, 3, 4}), f32({2, 4, 5})}, {f32({2, 3, 5})}});
    row("dot", 2 * 6, 6, 4 * 13, {"aten", "dot", {f32({6}), f32({6})}, {f32({})}});
    row("MatMulNBits", 2 * 3 * 16 * 5, 3 * 16 * 5, 4 * 48 + 40 + 4 * 5 + 4 * 15,
        {"com.microsoft",
         "MatMulNBits",
         {f32({3, 16}), TypeInfo::tensor(DType::UInt8, Shape{5, 1, 8}), f32({5})},
         {f32({3, 5})},
         {{"K", std::int64_t{16}}, {"N", std::int64_t{5}}}});
    row("Einsum of two", 2 * 2 * 3 * 4 * 5, 2 * 3 * 4 * 5, 4 * (24 + 40 + 30),
        {"",
         "Einsum",
         {f32({2, 3, 4}), f32({2, 4, 5})},
         {f32({2, 3, 5})},
         {{"equation", std::string("bij,bjk->bik")}}});
    row("Einsum without sums", 12, 0, 4 * (3 + 4 + 12),
        {"", "Einsum", {f32({3}), f32({4})}, {f32({3, 4})}, {{"equation", std::string("i, j -> ij")}}});

    // The pairs with the smallest results first: (2,3)·(3,4) takes 24 and leaves 2·4, (2,4)·(4,5) takes 40.
    row("Einsum of three", 2 * (24 + 40), 24 + 40, 4 * (6 + 12 + 20 + 10),
        {"",
         "Einsum",
         {f32({2, 3}), f32({3, 4}), f32({4, 5})},
         {f32({2, 5})},
         {{"equation", std::string("ij,jk,kl->il")}}});
    // 7 rows of 3 results: A·x2 takes 4·5, x1 · that 4, the bias a sum.
    row("bilinear", 2 * 7 * 3 * (20 + 4) + 21, 7 * 3 * (20 + 4), 4 * (28 + 35 + 60 + 3 + 21),
        {"aten", "bilinear", {f32({7, 4}), f32({7, 5}), f32({3, 4, 5}), f32({3})}, {f32({7, 3})}});
    // 2·3 pairs of rows of 4: difference, square, sum; and the root.
    row("cdist", 6 * (3 * 4 + 1), 0, 4 * (8 + 12 + 6),
        {"aten", "cdist", {f32({2, 4}), f32({3, 4}), plain(Value::ofFloat(2))}, {f32({2, 3})}});

    // 2 heads of 3 queries, 5 keys, size 4: 30 scores of 4 products, 24 results of 5.
    row("attention", 2 * (120 + 120) + 6 * 30, 240, 4 * (24 + 40 + 40 + 24),
        {"aten",
         "scaled_dot_product_attention",
         {f32({1, 2, 3, 4}), f32({1, 2, 5, 4}), f32({1, 2, 5, 4})},
         {f32({1, 2, 3, 4})}});
    row("Attention, heads in one dimension", 2 * (120 + 120) + 6 * 30, 240, 4 * (24 + 40 + 40 + 24),
        {"",
         "Attention",
         {f32({1, 3, 8}), f32({1, 5, 8}), f32({1, 5, 8})},
         {f32({1, 3, 8})},
         {{"q_num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{2}}}});
    // batch 1, 3 positions, size 4, 2 heads: 4 projections 3·4·4 with biases; scores 3·3·4, values 3·3·4, 18 scores.
    row("_native_multi_head_attention", 2 * (192 + 72) + 48 + 6 * 18, 192 + 72, 4 * (12 * 4 + 48 + 12 + 16 + 4),
        {"aten",
         "_native_multi_head_attention",
         {f32({1, 3, 4}), f32({1, 3, 4}), f32({1, 3, 4}), plain(n(4)), plain(n(2)), f32({12, 4}), f32({12}),
          f32({4, 4}), f32({4})},
         {f32({1, 3, 4})},
         {},
         {none, none, none, n(4), n(2)}});

    // 7 steps of a batch of 2: 4·6·(5 + 6) products; 3 sums for each gate and 9 more for each of 6 elements.
    row("LSTM of ONNX", 2 * 14 * 264 + 14 * 6 * (12 + 9), 14 * 264, 4 * (70 + 120 + 144 + 48 + 84),
        {"", "LSTM", {f32({7, 2, 5}), f32({1, 24, 5}), f32({1, 24, 6}), f32({1, 48})}, {f32({7, 1, 2, 6})}});
    // Two layers both ways: the second has 12 inputs. 14 steps · 2 directions · 3·6·(5 + 12 + 2·6) products.
    const TypeInfo weights = [] {
        TypeInfo list;
        list.kind = tensor::ValueKind::Tuple;
        for (int way = 0; way < 2; ++way) {
            for (const Shape& shape : {Shape{18, 5}, Shape{18, 6}, Shape{18}, Shape{18}})
                list.elements.push_back(f32(shape));
        }
        for (int way = 0; way < 2; ++way) {
            for (const Shape& shape : {Shape{18, 12}, Shape{18, 6}, Shape{18}, Shape{18}})
                list.elements.push_back(f32(shape));
        }
        return list;
    }();
    row("gru of ATen", 2 * 28 * 522 + 28 * 2 * 6 * (9 + 7), 28 * 522,
        4 * (70 + 48 + 2 * (90 + 108 + 36) + 2 * (216 + 108 + 36) + 168 + 48),
        {"aten",
         "gru.input",
         {f32({7, 2, 5}), f32({4, 2, 6}), weights, plain(yes), plain(n(2)), plain(Value::ofFloat(0)), plain(no),
          plain(yes), plain(no)},
         {f32({7, 2, 12}), f32({4, 2, 6})},
         {},
         {none, none, none, yes, n(2), Value::ofFloat(0), no, yes, no}});

    // Cells of 6, projected to 3: 4·6·(5 + 3) products for the gates, 6·3 for the projection.
    row("lstm of ATen, projected", 2 * 14 * (192 + 18) + 14 * 6 * (12 + 9), 14 * (192 + 18),
        4 * (70 + 6 + 12 + 120 + 72 + 48 + 18 + 42 + 6 + 12),
        {"aten",
         "lstm.input",
         {f32({7, 2, 5}), tuple({f32({1, 2, 3}), f32({1, 2, 6})}),
          tuple({f32({24, 5}), f32({24, 3}), f32({24}), f32({24}), f32({3, 6})}), plain(yes), plain(n(1)),
          plain(Value::ofFloat(0)), plain(no), plain(no), plain(no)},
         {f32({7, 2, 3}), f32({1, 2, 3}), f32({1, 2, 6})},
         {},
         {none, none, none, yes, n(1), Value::ofFloat(0), no, no, no}});

    row("BatchNormalization", 2 * 24, 0, 4 * (24 + 12 + 24),
        {"", "BatchNormalization", {f32({2, 3, 4}), f32({3}), f32({3}), f32({3}), f32({3})}, {f32({2, 3, 4})}});
    row("layer_norm", 7 * 24, 0, 4 * (24 + 8 + 24),
        {"aten", "layer_norm", {f32({2, 3, 4}), plain(ints({4})), f32({4}), f32({4})}, {f32({2, 3, 4})}});
    row("RMSNormalization", 4 * 24, 0, 4 * (24 + 4 + 24),
        {"", "RMSNormalization", {f32({2, 3, 4}), f32({4})}, {f32({2, 3, 4})}});
    row("softmax", 5 * 24, 0, 4 * 48, {"aten", "softmax.int", {f32({2, 3, 4})}, {f32({2, 3, 4})}});

    row("MaxPool", 4 * 9, 0, 4 * (36 + 4),
        {"", "MaxPool", {f32({1, 1, 6, 6})}, {f32({1, 1, 2, 2})}, {{"kernel_shape", std::vector<std::int64_t>{3, 3}}}});
    row("avg_pool2d of a square", 4 * 9 + 4, 0, 4 * (36 + 4),
        {"aten", "avg_pool2d", {f32({1, 1, 6, 6}), plain(n(3))}, {f32({1, 1, 2, 2})}, {}, {none, n(3)}});
    row("GlobalAveragePool", 36 + 1, 0, 4 * 37, {"", "GlobalAveragePool", {f32({1, 1, 6, 6})}, {f32({1, 1, 1, 1})}});
    row("upsample_bilinear2d", 2 * 4 * 16, 0, 4 * 20,
        {"aten", "upsample_bilinear2d", {f32({1, 1, 2, 2}), plain(ints({4, 4}))}, {f32({1, 1, 4, 4})}});
    row("Resize to the nearest", 0, 0, 4 * 20, {"", "Resize", {f32({1, 1, 2, 2})}, {f32({1, 1, 4, 4})}});

    row("relu_", 24, 0, 4 * 48, {"aten", "relu_", {f32({24})}, {f32({24})}});
    row("add, broadcast", 12, 0, 4 * (3 + 12 + 12), {"aten", "add.Tensor", {f32({3}), f32({4, 3})}, {f32({4, 3})}});
    row("addcmul", 3 * 6, 0, 4 * 24, {"aten", "addcmul", {f32({6}), f32({6}), f32({6})}, {f32({6})}});
    row("Sum of three", 2 * 6, 0, 4 * 24, {"", "Sum", {f32({6}), f32({6}), f32({6})}, {f32({6})}});
    row("half precision", 6, 0, 2 * 12,
        {"", "Relu", {TypeInfo::tensor(DType::Float16, Shape{6})}, {TypeInfo::tensor(DType::Float16, Shape{6})}});
    row("ReduceSum", 24, 0, 4 * 30, {"", "ReduceSum", {f32({6, 4})}, {f32({6})}});
    row("mean", 24 + 6, 0, 4 * 30, {"aten", "mean.dim", {f32({6, 4})}, {f32({6})}});

    row("max of all", 24, 0, 4 * 25, {"aten", "max", {f32({6, 4})}, {f32({})}});
    row("max of two", 24, 0, 4 * 72, {"aten", "max.other", {f32({6, 4}), f32({6, 4})}, {f32({6, 4})}});

    // What Python hands on is neither read nor written, but for elements that a tensor picks.
    row("TupleConstruct", 0, 0, 0, {"prim", "TupleConstruct", {f32({6}), f32({4})}, {tuple({f32({6}), f32({4})})}});
    row("getitem of a tuple", 0, 0, 0, {"prim", "getitem", {tuple({f32({6}), f32({4})}), plain(n(1))}, {f32({4})}});
    row("getitem of a tensor", 0, 0, 0, {"prim", "getitem", {f32({6, 4}), plain(n(1))}, {f32({4})}});
    row("getitem by a tensor", 0, 0, 4 * 24 + 8 * 2 + 4 * 8,
        {"prim", "getitem", {f32({6, 4}), TypeInfo::tensor(DType::Int64, Shape{2})}, {f32({2, 4})}});
    row("TupleIndex", 0, 0, 0, {"prim", "TupleIndex", {tuple({f32({6}), f32({4})}), plain(n(0))}, {f32({6})}});

    row("view", 0, 0, 0, {"aten", "view", {f32({6, 4})}, {f32({24})}});
    row("transpose", 0, 0, 0, {"aten", "transpose.int", {f32({6, 4})}, {f32({4, 6})}});
    row("Transpose", 0, 0, 4 * 48, {"", "Transpose", {f32({6, 4})}, {f32({4, 6})}});
    row("Reshape", 0, 0, 0, {"", "Reshape", {f32({6, 4}), TypeInfo::tensor(DType::Int64, Shape{1})}, {f32({24})}});
    row("Concat", 0, 0, 4 * 20, {"", "Concat", {f32({4}), f32({6})}, {f32({10})}});
    row("dropout", 0, 0, 0, {"aten", "dropout", {f32({24})}, {f32({24})}});
    // Two rows of four are read, not the table.
    row("embedding", 0, 0, 4 * 8 + 16 + 4 * 8,
        {"aten", "embedding", {f32({1000, 4}), TypeInfo::tensor(DType::Int64, Shape{2})}, {f32({2, 4})}});
    row("Cast", 0, 0, 4 * 6 + 2 * 6, {"", "Cast", {f32({6})}, {TypeInfo::tensor(DType::Float16, Shape{6})}});
}

void TestCost::workedByHand() {
    QFETCH(QString, expected);
    QFETCH(QString, actual);
    QCOMPARE(actual, expected);
}

void TestCost::symbolsStay() {
    const auto batch = [](std::vector<Dim> rest) {
        rest.insert(rest.begin(), Dim::named("N"));
        return TypeInfo::tensor(DType::Float32, rest);
    };
    const Case conv{"",
                    "Conv",
                    {batch({Dim::of(2), Dim::of(7), Dim::of(7)}), f32({4, 2, 3, 3})},
                    {batch({Dim::of(4), Dim::of(5), Dim::of(5)})}};
    QCOMPARE(textOf(conv.cost()), "3600*N 1800*N 792*N+288");
}

void TestCost::unknownStaysUnknown() {
    const TypeInfo open = TypeInfo::tensor(DType::Float32);
    QCOMPARE(textOf(Case{"", "Relu", {open}, {open}}.cost()), "? 0 ?");
    QCOMPARE(textOf(Case{"aten", "frobnicate", {f32({2})}, {f32({2})}}.cost()), "? ? 16");
    QCOMPARE(textOf(Case{"aten", "linalg_svdvals", {f32({2, 2})}, {f32({2})}}.cost()), "? ? 24");
    // Whether it is a transposed one is not known.
    QCOMPARE(textOf(Case{"aten", "_convolution", {f32({1, 1, 3, 3}), f32({1, 1, 1, 1})}, {f32({1, 1, 3, 3})}}.cost()),
             "? ? 76");
    QCOMPARE(textOf(Case{
                 "", "Einsum", {f32({2, 2}), f32({2, 2})}, {f32({2, 2})}, {{"equation", std::string("...j,jk->...k")}}}
                        .cost()),
             "? ? 48");
}

/// Of a list of unknown length: 4 tensors of 2·3 elements are in the result.
void TestCost::joinedListsAreReadAsTheyAreWritten() {
    TypeInfo list;
    list.kind = tensor::ValueKind::List;
    list.elements = {f32({2, 3})};
    const Cost stack = Case{"aten", "stack", {list, plain(Value::ofInt(0))}, {f32({4, 2, 3})}}.cost();
    QCOMPARE(stack.bytesRead.text(), std::string("96"));
    QCOMPARE(stack.bytesWritten.text(), std::string("96"));
    // Another operator may read more or less than it gives.
    const Cost other = Case{"aten", "frobnicate", {list}, {f32({4, 2, 3})}}.cost();
    QVERIFY(!other.bytesRead.known());
}

/// A sum of many terms is not known (tensor::Symbolic), and each of its parts is.
void TestCost::longSumsHaveTheirParts() {
    const auto image = [](const char* height, const char* width) {
        TypeInfo type = TypeInfo::tensor(DType::Float32);
        type.shape = {Dim::named("n"), Dim::of(64), Dim::named(height), Dim::named(width)};
        return type;
    };
    const Cost pool =
        Case{"", "MaxPool", {image("(a+1)//2-1", "(b+1)//2-1")}, {image("(a+3)//4-1", "(b+3)//4-1")}}.cost();
    QVERIFY(!pool.bytes.known());
    QVERIFY(pool.bytesRead.known());
    QVERIFY(pool.bytesWritten.known());
}

QTEST_APPLESS_MAIN(TestCost)

}  // namespace tst_cost

#include "tst_cost.moc"
