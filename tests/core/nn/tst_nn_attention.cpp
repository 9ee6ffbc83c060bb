#include <QtTest>

#include "core/nn/attention.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_attention {

using namespace sonde;
using namespace sonde::test;

namespace {

using Row = std::vector<double>;

/// softmax(q k^T / sqrt(d) + mask) v for one head, as the formula says. q [L][d], k and v [S][d], mask [L][S].
struct Head {
    std::vector<Row> y, weights;
    Head(const std::vector<Row>& q, const std::vector<Row>& k, const std::vector<Row>& v,
         const std::vector<Row>& mask) {
        for (std::size_t i = 0; i < q.size(); ++i) {
            Row w(k.size());
            double sum = 0;
            for (std::size_t j = 0; j < k.size(); ++j) {
                double score = mask[i][j];
                for (std::size_t e = 0; e < q[i].size(); ++e)
                    score += q[i][e] * k[j][e] / std::sqrt(static_cast<double>(q[i].size()));
                sum += w[j] = std::exp(score);
            }
            Row row(v[0].size(), 0);
            for (std::size_t j = 0; j < k.size(); ++j) {
                w[j] /= sum;
                for (std::size_t e = 0; e < row.size(); ++e) row[e] += w[j] * v[j][e];
            }
            y.push_back(row);
            weights.push_back(w);
        }
    }
};

/// Two heads of one number each, with identity projections: q = k = v = x of [L,1,2].
std::shared_ptr<nn::MultiheadAttention> identityAttention(const nn::AttentionOptions& options = {}) {
    auto attention = std::make_shared<nn::MultiheadAttention>(2, 2, options);
    setTensor(*attention, "in_proj_weight", floats({6, 2}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}));
    setTensor(*attention, "out_proj.weight", floats({2, 2}, {1, 0, 0, 1}));
    return attention;
}

void fill(nn::Module& module) {
    double from = -0.9;
    for (const trace::NamedTensor& named : trace::namedTensors(module)) {
        named.slot->value = ramp(named.slot->value.shape(), 0.43, from);
        from += 0.11;
    }
}

const Value kNone;
Value boolean(bool value) { return Value::ofBool(value); }
Tensor mask(tensor::Shape shape, std::initializer_list<bool> values) {
    return Tensor::of<bool>(std::move(shape), values);
}

}  // namespace

class TestNnAttention : public QObject {
    Q_OBJECT

  private slots:
    void stateAndSignature() {
        const nn::MultiheadAttention attention(4, 2, {.addBiasKv = true});
        QCOMPARE(stateText(attention),
                 std::string("in_proj_weight [12,4], in_proj_bias [12], bias_k [1,1,4], bias_v [1,1,4], "
                             "out_proj.weight [4,4], out_proj.bias [4]"));
        QCOMPARE(stateText(nn::MultiheadAttention(4, 2, {.bias = false, .keySize = 3, .valueSize = 5})),
                 std::string("q_proj_weight [4,4], k_proj_weight [4,3], v_proj_weight [4,5], out_proj.weight [4,4]"));
        std::string names;
        for (const trace::ForwardParameter& parameter : attention.signature())
            names += parameter.name + (parameter.fallback ? "=" + parameter.fallback->text() : "") + " ";
        QCOMPARE(
            names,
            std::string(
                "query key value key_padding_mask=None need_weights=True attn_mask=None average_attn_weights=True "));
        QVERIFY_EXCEPTION_THROWN(nn::MultiheadAttention(4, 3), trace::TraceError);
    }

    void formula_data() {
        QTest::addColumn<bool>("batchFirst");
        QTest::addColumn<bool>("hidesKey");
        QTest::addColumn<bool>("causal");
        for (const bool batchFirst : {false, true}) {
            for (int masks = 0; masks < 4; ++masks) {
                QTest::addRow("%s %s %s", batchFirst ? "batch first" : "time first", masks & 1 ? "key hidden" : "",
                              masks & 2 ? "causal" : "")
                    << batchFirst << ((masks & 1) != 0) << ((masks & 2) != 0);
            }
        }
    }
    void formula() {
        QFETCH(bool, batchFirst);
        QFETCH(bool, hidesKey);
        QFETCH(bool, causal);
        const std::vector<float> x{0.5F, -1, 1.5F, 0.25F, -0.75F, 2};
        std::vector<Row> hidden(3, Row(3, 0));
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                if ((causal && j > i) || (hidesKey && j == 1)) hidden[i][j] = -INFINITY;
            }
        }
        std::vector<float> y(6), average(9, 0);
        for (std::size_t h = 0; h < 2; ++h) {
            const std::vector<Row> part{{x[h]}, {x[2 + h]}, {x[4 + h]}};
            const Head head(part, part, part, hidden);
            for (std::size_t i = 0; i < 3; ++i) {
                y[2 * i + h] = static_cast<float>(head.y[i][0]);
                for (std::size_t j = 0; j < 3; ++j) average[3 * i + j] += static_cast<float>(head.weights[i][j] / 2);
            }
        }
        const tensor::Shape shape = batchFirst ? tensor::Shape{1, 3, 2} : tensor::Shape{3, 1, 2};
        const Tensor input = floats(shape, x);
        const Value padding = hidesKey ? Value(mask({1, 3}, {false, true, false})) : kNone;
        const Value above =
            causal ? Value(mask({3, 3}, {false, true, true, false, false, true, false, false, false})) : kNone;
        const auto attention = identityAttention({.batchFirst = batchFirst});
        for (const bool weights : {true, false}) {
            const LayerResult result = runLayer(attention, {input, input, input, padding, boolean(weights), above});
            QVERIFY2(result.problem.empty(), result.problem.c_str());
            QCOMPARE(result.outputs.size(), weights ? 2U : 1U);
            QCOMPARE(result.outputs[0].shape(), shape);
            COMPARE_FLOATS(result, 0, y);
            if (!weights) continue;
            QCOMPARE(result.outputs[1].shape(), (tensor::Shape{1, 3, 3}));
            COMPARE_FLOATS(result, 1, average);
        }
        // Without the batch's axis.
        const Tensor single = floats({3, 2}, x);
        const Value singlePadding = hidesKey ? Value(mask({3}, {false, true, false})) : kNone;
        const LayerResult result = runLayer(attention, {single, single, single, singlePadding, boolean(true), above});
        COMPARE_FLOATS(result, 0, y);
        COMPARE_FLOATS(result, 1, average);
        QCOMPARE(result.outputs[1].shape(), (tensor::Shape{3, 3}));
    }

    /// A float mask is added; [N heads,L,S] has one for each head of each image.
    void masksOfNumbersAndPerHead() {
        const Tensor x = floats({2, 2, 2}, {0.5F, -1, 1.5F, 0.25F, -0.75F, 2, 0.3F, 0.9F});  // [L,N,E]
        const std::vector<float> added{0.1F, 0.2F, 0.3F, 0.4F, -0.1F, -0.2F, -0.3F, -0.4F, 1, 2, 3, 4, -1, 0, 1, 0.5F};
        const LayerResult result =
            runLayer(identityAttention(), {x, x, x, kNone, boolean(true), floats({4, 2, 2}, added), boolean(false)});
        QVERIFY2(result.problem.empty(), result.problem.c_str());
        QCOMPARE(result.outputs[1].shape(), (tensor::Shape{2, 2, 2, 2}));
        std::vector<float> y(8), weights(16);
        const std::vector<float> values = {0.5F, -1, 1.5F, 0.25F, -0.75F, 2, 0.3F, 0.9F};
        for (std::size_t n = 0; n < 2; ++n) {
            for (std::size_t h = 0; h < 2; ++h) {
                const std::vector<Row> part{{values[2 * n + h]}, {values[4 + 2 * n + h]}};
                const float* at = &added[(n * 2 + h) * 4];
                const Head head(part, part, part, {{at[0], at[1]}, {at[2], at[3]}});
                for (std::size_t i = 0; i < 2; ++i) {
                    y[i * 4 + n * 2 + h] = static_cast<float>(head.y[i][0]);
                    for (std::size_t j = 0; j < 2; ++j)
                        weights[(n * 2 + h) * 4 + i * 2 + j] = static_cast<float>(head.weights[i][j]);
                }
            }
        }
        COMPARE_FLOATS(result, 0, y);
        COMPARE_FLOATS(result, 1, weights);
    }

    /// Projections and biases: one head, one key, so the weights are 1 and y = W_o (W_v v + b_v) + b_o.
    void projectionsAndBiases() {
        auto attention =
            std::make_shared<nn::MultiheadAttention>(2, 1, nn::AttentionOptions{.keySize = 3, .valueSize = 1});
        fill(*attention);
        setTensor(*attention, "v_proj_weight", floats({2, 1}, {2, -1}));
        setTensor(*attention, "in_proj_bias", floats({6}, {9, 9, 9, 9, 0.5F, 0.25F}));
        setTensor(*attention, "out_proj.weight", floats({2, 2}, {1, 2, 3, 4}));
        setTensor(*attention, "out_proj.bias", floats({2}, {0.1F, 0.2F}));
        // v = (2 * 3 + 0.5, -3 + 0.25) = (6.5, -2.75); y = (6.5 - 5.5 + 0.1, 19.5 - 11 + 0.2).
        const LayerResult result = runLayer(attention, {ramp({1, 1, 2}), ramp({1, 1, 3}), floats({1, 1, 1}, {3})});
        COMPARE_FLOATS(result, 0, 1.1F, 8.7F);
        COMPARE_FLOATS(result, 1, 1);
    }

    /// The learned key and value and the zeros stand behind the given ones, in each image, and are never hidden.
    void addedKeys() {
        auto attention = identityAttention({.addBiasKv = true, .addZeroAttn = true});
        setTensor(*attention, "bias_k", floats({1, 1, 2}, {0.5F, -0.5F}));
        setTensor(*attention, "bias_v", floats({1, 1, 2}, {3, 4}));
        const std::vector<float> x{0.5F, -1, 1.5F, 0.25F};
        std::vector<float> y(4), average(8, 0);
        for (std::size_t n = 0; n < 2; ++n) {
            for (std::size_t h = 0; h < 2; ++h) {
                const double own = x[n * 2 + h];
                const double hidden = n == 1 ? -INFINITY : 0;
                const Head head({{own}}, {{own}, {h == 0 ? 0.5 : -0.5}, {0}}, {{own}, {h == 0 ? 3.0 : 4.0}, {0}},
                                {{hidden, 0, 0}});
                y[n * 2 + h] = static_cast<float>(head.y[0][0]);
                for (std::size_t j = 0; j < 3; ++j) average[n * 3 + j] += static_cast<float>(head.weights[0][j] / 2);
            }
        }
        average.resize(6);
        const Tensor input = floats({1, 2, 2}, x);
        const LayerResult result = runLayer(attention, {input, input, input, mask({2, 1}, {false, true})});
        COMPARE_FLOATS(result, 0, y);
        COMPARE_FLOATS(result, 1, average);
    }
};

QTEST_GUILESS_MAIN(TestNnAttention)

}  // namespace tst_nn_attention

#include "tst_nn_attention.moc"
