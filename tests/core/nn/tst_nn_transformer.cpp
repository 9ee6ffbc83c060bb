// Transformer layers. The numbers are those of the formulas, computed apart from this program in double precision.

#include <QtTest>

#include "core/nn/transformer.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_transformer {

using namespace sonde;
using namespace sonde::test;

namespace {

/// Numbers for every parameter in order: parameter k begins at -0.9 + 0.11 k (0.9 less once it is above 0), steps of
/// 0.43, modulo 2 above the beginning.
void fill(nn::Module& module) {
    double from = -0.9;
    for (const trace::NamedTensor& named : trace::namedTensors(module)) {
        named.slot->value = ramp(named.slot->value.shape(), 0.43, from);
        from += 0.11;
        if (from > 0) from -= 0.9;
    }
}

template <typename L>
std::shared_ptr<nn::Module> layer(nn::TransformerOptions options) {
    options.feedForwardSize = 3;
    auto result = std::make_shared<L>(4, 2, options);
    fill(*result);
    return result;
}

const std::vector<float> kInput{0.5F, -1, 0.25F, 2, 1, 0.75F, -0.5F, 0.1F, -0.3F, 0.2F, 0.9F, -1.2F};
Tensor input(bool batchFirst = false) {
    return floats(batchFirst ? tensor::Shape{1, 3, 4} : tensor::Shape{3, 1, 4}, kInput);
}
Tensor memory() { return floats({2, 1, 4}, {0.1F, 0.2F, -0.3F, 0.4F, 1, -1, 0.5F, -0.5F}); }
Tensor above() { return Tensor::of<bool>({3, 3}, {false, true, true, false, false, true, false, false, false}); }
Tensor aboveAsNumbers() {
    constexpr float kHidden = -INFINITY;
    return floats({3, 3}, {0, kHidden, kHidden, 0, 0, kHidden, 0, 0, 0});
}
const Value kNone;

}  // namespace

class TestNnTransformer : public QObject {
    Q_OBJECT

  private slots:
    void stateNames() {
        const nn::TransformerEncoderLayer encoder(4, 2, {.feedForwardSize = 3});
        const std::string attention =
            "self_attn.in_proj_weight [12,4], self_attn.in_proj_bias [12], self_attn.out_proj.weight [4,4], self_attn.out_proj.bias [4], ";
        const std::string rest =
            "linear1.weight [3,4], linear1.bias [3], linear2.weight [4,3], linear2.bias [4], "
            "norm1.weight [4], norm1.bias [4], norm2.weight [4], norm2.bias [4]";
        QCOMPARE(stateText(encoder), attention + rest);
        const nn::TransformerDecoderLayer decoder(4, 2, {.feedForwardSize = 3});
        std::string cross = attention;
        for (std::size_t at = 0; (at = cross.find("self_attn", at)) != std::string::npos;)
            cross.replace(at, 9, "multihead_attn");
        QCOMPARE(stateText(decoder), attention + cross + rest + ", norm3.weight [4], norm3.bias [4]");
        const nn::TransformerEncoderLayer plain(4, 2, {.feedForwardSize = 3, .bias = false});
        QCOMPARE(
            stateText(plain),
            std::string(
                "self_attn.in_proj_weight [12,4], self_attn.out_proj.weight [4,4], linear1.weight [3,4], linear2.weight [4,3], "
                "norm1.weight [4], norm2.weight [4]"));
        QVERIFY_EXCEPTION_THROWN(nn::TransformerEncoderLayer(4, 2, {.activation = "sine"}), trace::TraceError);
    }

    void encoderLayer() {
        const std::vector<float> post{0.371289F, -0.162812F, 0.255853F, 1.55625F,    0.360602F, -0.15913F,
                                      0.253456F, 1.56413F,   0.418989F, -0.0966356F, 0.327138F, 1.4782F};
        COMPARE_FLOATS(runLayer(layer<nn::TransformerEncoderLayer>({}), {input()}), 0, post);
        COMPARE_FLOATS(runLayer(layer<nn::TransformerEncoderLayer>({.batchFirst = true}), {input(true)}), 0, post);
        const std::vector<float> pre{-1.84498F, 2.57102F, 4.45884F,   7.67707F, -1.06633F, 3.09389F,
                                     4.83864F,  6.28249F, -0.719727F, 1.71414F, 4.74032F,  2.6263F};
        const auto causal = layer<nn::TransformerEncoderLayer>({.activation = "gelu", .normFirst = true});
        COMPARE_FLOATS(runLayer(causal, {input(), above()}), 0, pre);
        COMPARE_FLOATS(runLayer(causal, {input(), aboveAsNumbers(), kNone, Value::ofBool(true)}), 0, pre);
    }

    void decoderLayer() {
        const std::vector<float> post{-0.762765F, -0.291212F, 0.408923F,  1.63479F,   -0.762725F, -0.29175F,
                                      0.415001F,  1.62849F,   -0.762491F, -0.296685F, 0.460825F,  1.58177F};
        COMPARE_FLOATS(runLayer(layer<nn::TransformerDecoderLayer>({}), {input(), memory(), above()}), 0, post);
        const std::vector<float> pre{-2.25546F, 3.4364F,  7.27604F,  11.6864F, -1.74629F, 4.72049F,
                                     6.50116F,  9.66137F, -2.57549F, 3.75728F, 7.92807F,  7.8744F};
        COMPARE_FLOATS(runLayer(layer<nn::TransformerDecoderLayer>({.activation = "gelu", .normFirst = true}),
                                {input(), memory()}),
                       0, pre);
    }

    /// Several layers are one behind the other, and the whole is the decoder on what the encoder makes.
    void stacks() {
        const nn::TransformerOptions options{.feedForwardSize = 3};
        auto whole = std::make_shared<nn::Transformer>(4, 2, 2, 1, options);
        fill(*whole);
        QCOMPARE(trace::namedTensors(*whole)[12].path, std::string("encoder.layers.1.self_attn.in_proj_weight"));
        const LayerResult result = runLayer(whole, {memory(), input(), kNone, above()});
        QVERIFY2(result.problem.empty(), result.problem.c_str());
        const auto part = [&](const char* path) { return whole->find(path)->shared_from_this(); };
        Tensor x = memory();
        for (const char* path : {"encoder.layers.0", "encoder.layers.1", "encoder.norm"})
            x = runLayer(part(path), {x}).outputs.at(0);
        const Tensor y = runLayer(part("decoder.layers.0"), {input(), x, above()}).outputs.at(0);
        const LayerResult last = runLayer(part("decoder.norm"), {y});
        QVERIFY2(compareTensors(result.outputs.at(0), last.outputs.at(0), 1e-5, 1e-5).empty(),
                 "the parts differ from the whole");
        const auto encoder = std::make_shared<nn::TransformerEncoder>(4, 2, 3, options);
        QCOMPARE(trace::namedTensors(*encoder).size(), 36U);
        QVERIFY(runLayer(encoder, {memory()}).problem.empty());
        const auto decoder = std::make_shared<nn::TransformerDecoder>(4, 2, 1, options);
        QVERIFY(runLayer(decoder, {input(), memory()}).problem.empty());
    }
};

QTEST_GUILESS_MAIN(TestNnTransformer)

}  // namespace tst_nn_transformer

#include "tst_nn_transformer.moc"
