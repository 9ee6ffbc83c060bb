#include <QtTest>

#include "core/nn/recurrent.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_recurrent {

using namespace sonde;
using namespace sonde::test;

namespace {

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

class TestNnRecurrent : public QObject {
    Q_OBJECT

  private slots:
    void stateNames() {
        const nn::LSTM lstm(3, 4, {.layers = 2, .bidirectional = true});
        QCOMPARE(
            stateText(lstm),
            std::string(
                "weight_ih_l0 [16,3], weight_hh_l0 [16,4], bias_ih_l0 [16], bias_hh_l0 [16], "
                "weight_ih_l0_reverse [16,3], weight_hh_l0_reverse [16,4], bias_ih_l0_reverse [16], bias_hh_l0_reverse [16], "
                "weight_ih_l1 [16,8], weight_hh_l1 [16,4], bias_ih_l1 [16], bias_hh_l1 [16], "
                "weight_ih_l1_reverse [16,8], weight_hh_l1_reverse [16,4], bias_ih_l1_reverse [16], bias_hh_l1_reverse [16]"));
        QCOMPARE(stateText(nn::GRU(2, 3, {.bias = false})), std::string("weight_ih_l0 [9,2], weight_hh_l0 [9,3]"));
        QCOMPARE(stateText(nn::LSTM(2, 3, {.projection = 1})),
                 std::string(
                     "weight_ih_l0 [12,2], weight_hh_l0 [12,1], bias_ih_l0 [12], bias_hh_l0 [12], weight_hr_l0 [1,3]"));
        QCOMPARE(stateText(nn::GRUCell(2, 3)),
                 std::string("weight_ih [9,2], weight_hh [9,3], bias_ih [9], bias_hh [9]"));
    }

    /// One number in, one number as state: two steps by hand, from x = 1, 2.
    void rnnByHand() {
        auto rnn = std::make_shared<nn::RNN>(1, 1);
        setTensor(*rnn, "weight_ih_l0", floats({1, 1}, {0.5F}));
        setTensor(*rnn, "weight_hh_l0", floats({1, 1}, {0.25F}));
        setTensor(*rnn, "bias_ih_l0", floats({1}, {0.1F}));
        setTensor(*rnn, "bias_hh_l0", floats({1}, {-0.2F}));
        const float first = std::tanh(0.4F);
        const float second = std::tanh(0.9F + 0.25F * first);
        const LayerResult result = runLayer(rnn, {floats({2, 1, 1}, {1, 2})});
        COMPARE_FLOATS(result, 0, first, second);
        COMPARE_FLOATS(result, 1, second);
        QCOMPARE(result.outputs[1].shape(), (tensor::Shape{1, 1, 1}));
        auto relu = std::make_shared<nn::RNN>(1, 1, nn::RecurrentOptions{.nonlinearity = "relu"});
        setTensor(*relu, "weight_ih_l0", floats({1, 1}, {2}));
        setTensor(*relu, "weight_hh_l0", floats({1, 1}, {-1}));
        COMPARE_FLOATS(runLayer(relu, {floats({3, 1, 1}, {1, 2, 0}), floats({1, 1, 1}, {0.5F})}), 0, 1.5F, 2.5F, 0);
        QVERIFY_EXCEPTION_THROWN(nn::RNN(1, 1, {.nonlinearity = "sine"}), trace::TraceError);
    }

    void lstmByHand() {
        auto lstm = std::make_shared<nn::LSTM>(1, 1);
        setTensor(*lstm, "weight_ih_l0", floats({4, 1}, {0.1F, 0.2F, 0.3F, 0.4F}));
        setTensor(*lstm, "weight_hh_l0", floats({4, 1}, {0.5F, -0.5F, 0.25F, 1}));
        setTensor(*lstm, "bias_ih_l0", floats({4}, {0, 1, 0, 0}));
        float h = 0.3F, c = -0.2F;
        std::vector<float> expected;
        for (const float x : {1.0F, -1.0F}) {
            c = sigmoid(0.2F * x - 0.5F * h + 1) * c + sigmoid(0.1F * x + 0.5F * h) * std::tanh(0.3F * x + 0.25F * h);
            h = sigmoid(0.4F * x + h) * std::tanh(c);
            expected.push_back(h);
        }
        const Value state = Value::tuple({Value(floats({1, 1, 1}, {0.3F})), Value(floats({1, 1, 1}, {-0.2F}))});
        const LayerResult result = runLayer(lstm, {floats({2, 1, 1}, {1, -1}), state});
        COMPARE_FLOATS(result, 0, expected[0], expected[1]);
        COMPARE_FLOATS(result, 1, h);
        COMPARE_FLOATS(result, 2, c);
    }

    void gruByHand() {
        auto gru = std::make_shared<nn::GRU>(1, 1);
        setTensor(*gru, "weight_ih_l0", floats({3, 1}, {0.5F, -0.25F, 1}));
        setTensor(*gru, "weight_hh_l0", floats({3, 1}, {0.1F, 0.2F, 0.3F}));
        setTensor(*gru, "bias_hh_l0", floats({3}, {0, 0, 0.5F}));
        const float x = 0.8F, h = -0.6F;
        const float r = sigmoid(0.5F * x + 0.1F * h), z = sigmoid(-0.25F * x + 0.2F * h);
        const float expected = (1 - z) * std::tanh(x + r * (0.3F * h + 0.5F)) + z * h;
        COMPARE_FLOATS(runLayer(gru, {floats({1, 1, 1}, {x}), floats({1, 1, 1}, {h})}), 0, expected);
        auto cell = std::make_shared<nn::GRUCell>(1, 1);
        setTensor(*cell, "weight_ih", floats({3, 1}, {0.5F, -0.25F, 1}));
        setTensor(*cell, "weight_hh", floats({3, 1}, {0.1F, 0.2F, 0.3F}));
        setTensor(*cell, "bias_hh", floats({3}, {0, 0, 0.5F}));
        COMPARE_FLOATS(runLayer(cell, {floats({1, 1}, {x}), floats({1, 1}, {h})}), 0, expected);
        COMPARE_FLOATS(runLayer(cell, {floats({1}, {x}), floats({1}, {h})}), 0, expected);
    }

    /// A bidirectional layer is two layers, one of which reads the sequence from its end.
    void bidirectionalIsTwoLayers() {
        auto both = std::make_shared<nn::GRU>(2, 3, nn::RecurrentOptions{.bidirectional = true});
        auto forward = std::make_shared<nn::GRU>(2, 3);
        auto backward = std::make_shared<nn::GRU>(2, 3);
        double from = -0.9;
        for (const char* name : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}) {
            const tensor::Shape shape = std::string(name).starts_with("bias")
                                            ? tensor::Shape{9}
                                            : tensor::Shape{9, std::string(name) == "weight_ih_l0" ? 2 : 3};
            setTensor(*both, name, ramp(shape, 0.37, from));
            setTensor(*forward, name, ramp(shape, 0.37, from));
            setTensor(*both, std::string(name) + "_reverse", ramp(shape, 0.53, from));
            setTensor(*backward, name, ramp(shape, 0.53, from));
            from += 0.1;
        }
        const Tensor x = floats({3, 1, 2}, {0.1F, 0.2F, -0.3F, 0.4F, 0.5F, -0.6F});
        const Tensor reversed = floats({3, 1, 2}, {0.5F, -0.6F, -0.3F, 0.4F, 0.1F, 0.2F});
        const LayerResult result = runLayer(both, {x});
        QVERIFY2(result.problem.empty(), result.problem.c_str());
        const std::vector<float> y = result.floats(), a = runLayer(forward, {x}).floats(),
                                 b = runLayer(backward, {reversed}).floats();
        for (std::size_t t = 0; t < 3; ++t) {
            for (std::size_t i = 0; i < 3; ++i) {
                QCOMPARE(y[t * 6 + i], a[t * 3 + i]);
                QCOMPARE(y[t * 6 + 3 + i], b[(2 - t) * 3 + i]);
            }
        }
        QCOMPARE(result.outputs[1].shape(), (tensor::Shape{2, 1, 3}));
    }

    /// The same numbers whether the batch stands first, second or is left out.
    void layoutsAgree() {
        const nn::RecurrentOptions two{.layers = 2};
        const nn::RecurrentOptions first{.layers = 2, .batchFirst = true};
        auto timeMajor = std::make_shared<nn::LSTM>(2, 2, two);
        auto batchFirst = std::make_shared<nn::LSTM>(2, 2, first);
        double from = -0.8;
        for (const trace::NamedTensor& named : trace::namedTensors(*timeMajor)) {
            setTensor(*batchFirst, named.path, ramp(named.slot->value.shape(), 0.41, from));
            setTensor(*timeMajor, named.path, ramp(named.slot->value.shape(), 0.41, from));
            from += 0.07;
        }
        const LayerResult a = runLayer(timeMajor, {floats({2, 1, 2}, {1, 2, 3, 4})});
        const LayerResult b = runLayer(batchFirst, {floats({1, 2, 2}, {1, 2, 3, 4})});
        const LayerResult c = runLayer(batchFirst, {floats({2, 2}, {1, 2, 3, 4})});
        const LayerResult d = runLayer(timeMajor, {floats({2, 2}, {1, 2, 3, 4})});
        for (const LayerResult* result : {&a, &b, &c, &d}) {
            QVERIFY2(result->problem.empty(), result->problem.c_str());
            for (std::size_t i = 0; i < 3; ++i) QCOMPARE(result->floats(i), a.floats(i));
        }
        QCOMPARE(b.outputs[0].shape(), (tensor::Shape{1, 2, 2}));
        QCOMPARE(c.outputs[0].shape(), (tensor::Shape{2, 2}));
        QCOMPARE(c.outputs[1].shape(), (tensor::Shape{2, 2}));
        QCOMPARE(a.outputs[1].shape(), (tensor::Shape{2, 1, 2}));
    }

    /// The projection shortens the state behind each step (arXiv:1402.1128).
    void projectionByHand() {
        auto lstm = std::make_shared<nn::LSTM>(1, 2, nn::RecurrentOptions{.bias = false, .projection = 1});
        setTensor(*lstm, "weight_ih_l0", floats({8, 1}, {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F}));
        setTensor(*lstm, "weight_hh_l0", floats({8, 1}, {-0.1F, 0.2F, -0.3F, 0.4F, -0.5F, 0.6F, -0.7F, 0.8F}));
        setTensor(*lstm, "weight_hr_l0", floats({1, 2}, {2, -1}));
        float h = 0;
        float c[2] = {0, 0};
        std::vector<float> expected;
        for (const float x : {1.0F, 0.5F}) {
            float full[2];
            for (int k = 0; k < 2; ++k) {
                const auto gate = [&](int g) {
                    const int row = 2 * g + k;
                    return 0.1F * static_cast<float>(row + 1) * x +
                           (row % 2 ? 0.1F : -0.1F) * static_cast<float>(row + 1) * h;
                };
                c[k] = sigmoid(gate(1)) * c[k] + sigmoid(gate(0)) * std::tanh(gate(2));
                full[k] = sigmoid(gate(3)) * std::tanh(c[k]);
            }
            h = 2 * full[0] - full[1];
            expected.push_back(h);
        }
        const LayerResult result = runLayer(lstm, {floats({2, 1, 1}, {1, 0.5F})});
        COMPARE_FLOATS(result, 0, expected[0], expected[1]);
        COMPARE_FLOATS(result, 2, c[0], c[1]);
    }

    void cellsAreOneStep() {
        auto layer = std::make_shared<nn::LSTM>(2, 3);
        auto cell = std::make_shared<nn::LSTMCell>(2, 3);
        auto rnn = std::make_shared<nn::RNN>(2, 3);
        auto rnnCell = std::make_shared<nn::RNNCell>(2, 3);
        double from = -0.7;
        for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
            for (const auto& [whole, step, rows] :
                 {std::tuple<nn::Module*, nn::Module*, int>{layer.get(), cell.get(), 12},
                  {rnn.get(), rnnCell.get(), 3}}) {
                const tensor::Shape shape = std::string(name).starts_with("bias")
                                                ? tensor::Shape{rows}
                                                : tensor::Shape{rows, std::string(name) == "weight_ih" ? 2 : 3};
                setTensor(*whole, std::string(name) + "_l0", ramp(shape, 0.29, from));
                setTensor(*step, name, ramp(shape, 0.29, from));
            }
            from += 0.15;
        }
        const LayerResult a = runLayer(layer, {floats({1, 2, 2}, {1, 2, 3, 4})}),
                          b = runLayer(cell, {floats({2, 2}, {1, 2, 3, 4})});
        QVERIFY2(b.problem.empty(), b.problem.c_str());
        QVERIFY(compareTensors(floats({2, 3}, a.floats(1)), b.outputs[0], 1e-5, 1e-6).empty());
        QVERIFY(compareTensors(floats({2, 3}, a.floats(2)), b.outputs[1], 1e-5, 1e-6).empty());
        const LayerResult c = runLayer(rnn, {floats({1, 2, 2}, {1, 2, 3, 4})}),
                          d = runLayer(rnnCell, {floats({2, 2}, {1, 2, 3, 4})});
        QVERIFY2(d.problem.empty(), d.problem.c_str());
        QVERIFY(compareTensors(floats({2, 3}, c.floats(1)), d.outputs[0], 1e-5, 1e-6).empty());
    }
};

QTEST_GUILESS_MAIN(TestNnRecurrent)

}  // namespace tst_nn_recurrent

#include "tst_nn_recurrent.moc"
