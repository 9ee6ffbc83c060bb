// Layers against values that torch made (the ONNX backend suite's group pytorch-converted, one layer a case), and
// against its operator cases where an operator is a layer of torch.

#include <QtTest>

#include "core/nn/activation.h"
#include "core/nn/conv.h"
#include "core/nn/embedding.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "core/nn/normalization.h"
#include "core/nn/padding.h"
#include "core/nn/pooling.h"
#include "core/nn/recurrent.h"
#include "core/nn/upsample.h"
#include "tests/core/nn/torch_case.h"

namespace tst_nn_torch_cases {

using namespace sonde;
using namespace sonde::test;
using nn::ConvOptions;

namespace {

using Layer = std::shared_ptr<nn::Module>;
template <typename L, typename... Args>
Layer make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

const std::vector<std::pair<const char*, Layer>>& cases() {
    using nn::Sizes;
    static const std::vector<std::pair<const char*, Layer>> table{
        {"AvgPool1d", make<nn::AvgPool1d>(2)},
        {"AvgPool1d_stride", make<nn::AvgPool1d>(2, 2)},
        {"AvgPool2d", make<nn::AvgPool2d>(2)},
        {"AvgPool2d_stride", make<nn::AvgPool2d>(2, 2)},
        {"AvgPool3d", make<nn::AvgPool3d>(2)},
        {"AvgPool3d_stride", make<nn::AvgPool3d>(2, 2)},
        {"AvgPool3d_stride1_pad0_gpu_input", make<nn::AvgPool3d>(3, 1)},
        {"BatchNorm2d_eval", make<nn::BatchNorm2d>(3)},
        {"BatchNorm2d_momentum_eval", make<nn::BatchNorm2d>(3, 1e-3, 0.8)},
        {"BatchNorm3d_eval", make<nn::BatchNorm3d>(3)},
        {"BatchNorm3d_momentum_eval", make<nn::BatchNorm3d>(3, 1e-3, 0.7)},
        {"ConstantPad2d", make<nn::ConstantPad2d>(Sizes{1, 2, 3, 4}, 2)},
        {"Conv1d_dilated", make<nn::Conv1d>(4, 5, 3, ConvOptions{.dilation = 2})},
        {"Conv1d_groups", make<nn::Conv1d>(4, 6, 3, ConvOptions{.groups = 2})},
        {"Conv1d_pad1", make<nn::Conv1d>(4, 5, 3, ConvOptions{.padding = "same"})},
        {"Conv1d_pad1size1", make<nn::Conv1d>(4, 4, 3, ConvOptions{.padding = 1})},
        {"Conv1d_pad2", make<nn::Conv1d>(4, 5, 5, ConvOptions{.padding = 2})},
        {"Conv1d_pad2size1", make<nn::Conv1d>(4, 4, 5, ConvOptions{.padding = 2})},
        {"Conv1d_stride", make<nn::Conv1d>(4, 5, 3, ConvOptions{.stride = 2})},
        {"Conv2d", make<nn::Conv2d>(3, 4, Sizes{3, 2}, ConvOptions{.padding = "valid"})},
        {"Conv2d_depthwise_strided", make<nn::Conv2d>(4, 4, 3, ConvOptions{.stride = 2, .groups = 4})},
        {"Conv2d_dilated", make<nn::Conv2d>(3, 2, 3, ConvOptions{.stride = 2, .padding = 1, .dilation = 2})},
        {"Conv2d_groups", make<nn::Conv2d>(4, 6, Sizes{3, 2}, ConvOptions{.groups = 2})},
        {"Conv2d_no_bias", make<nn::Conv2d>(3, 4, Sizes{3, 2}, ConvOptions{.bias = false})},
        {"Conv2d_padding", make<nn::Conv2d>(3, 4, 3, ConvOptions{.stride = 2, .padding = 1})},
        {"Conv3d", make<nn::Conv3d>(3, 4, Sizes{2, 3, 4})},
        {"Conv3d_dilated", make<nn::Conv3d>(3, 4, 2, ConvOptions{.dilation = 2})},
        {"Conv3d_dilated_strided", make<nn::Conv3d>(3, 4, 2, ConvOptions{.stride = 2, .dilation = 2})},
        {"Conv3d_groups", make<nn::Conv3d>(4, 6, 3, ConvOptions{.groups = 2})},
        {"Conv3d_no_bias", make<nn::Conv3d>(3, 4, Sizes{2, 3, 4}, ConvOptions{.bias = false})},
        {"Conv3d_stride_padding", make<nn::Conv3d>(3, 4, 2, ConvOptions{.stride = 2, .padding = 1})},
        {"ConvTranspose2d",
         make<nn::ConvTranspose2d>(3, 4, 3, ConvOptions{.stride = {3, 2}, .padding = 1, .outputPadding = 1})},
        {"ConvTranspose2d_no_bias",
         make<nn::ConvTranspose2d>(3, 4, 3,
                                   ConvOptions{.stride = {2, 3}, .padding = 1, .bias = false, .outputPadding = 1})},
        {"ELU", make<nn::ELU>(2)},
        {"Embedding", make<nn::Embedding>(4, 3)},
        {"GLU_dim", make<nn::GLU>(1)},
        {"LeakyReLU", make<nn::LeakyReLU>()},
        {"Linear", make<nn::Linear>(10, 8)},
        {"Linear_no_bias", make<nn::Linear>(10, 8, false)},
        {"LogSoftmax", make<nn::LogSoftmax>(1)},
        {"MaxPool1d", make<nn::MaxPool1d>(4)},
        {"MaxPool1d_stride_padding_dilation", make<nn::MaxPool1d>(200, 10, 100, 10)},
        {"MaxPool2d", make<nn::MaxPool2d>(3, 2, 1)},
        {"MaxPool3d", make<nn::MaxPool3d>(2)},
        {"MaxPool3d_stride_padding", make<nn::MaxPool3d>(2, 2, 1)},
        {"PReLU_1d", make<nn::PReLU>()},
        {"PReLU_1d_multiparam", make<nn::PReLU>(3)},
        {"PReLU_2d", make<nn::PReLU>()},
        {"PReLU_3d", make<nn::PReLU>()},
        {"PReLU_3d_multiparam", make<nn::PReLU>(3)},
        {"PixelShuffle", make<nn::PixelShuffle>(3)},
        {"ReLU", make<nn::ReLU>()},
        {"ReflectionPad2d", make<nn::ReflectionPad2d>(Sizes{1, 2, 3, 4})},
        {"ReplicationPad2d", make<nn::ReplicationPad2d>(Sizes{1, 2, 3, 4})},
        {"SELU", make<nn::SELU>()},
        {"Sigmoid", make<nn::Sigmoid>()},
        {"Softmax", make<nn::Softmax>(1)},
        {"Softplus", make<nn::Softplus>()},
        {"Softsign", make<nn::Softsign>()},
        {"Tanh", make<nn::Tanh>()},
        {"ZeroPad2d", make<nn::ZeroPad2d>(Sizes{1, 2, 3, 4})},
        {"log_softmax_dim3", make<nn::LogSoftmax>(3)},
        {"softmax_functional_dim3", make<nn::Softmax>(3)},
    };
    return table;
}

/// Blocks of `rows` rows in another order: ONNX and torch order the gates of recurrent layers differently.
Tensor blocks(const Tensor& x, std::int64_t first, const std::vector<std::int64_t>& order, std::int64_t rows) {
    std::vector<float> values;
    const std::int64_t width = x.rank() > 1 ? x.dim(1) : 1;
    for (std::int64_t block : order) {
        const float* from = x.data<float>() + (first + block * rows) * width;
        values.insert(values.end(), from, from + rows * width);
    }
    const auto total = static_cast<std::int64_t>(order.size()) * rows;
    return Tensor::of<float>(x.rank() > 1 ? tensor::Shape{total, width} : tensor::Shape{total}, values);
}

/// Inputs X, W [1,G H,I], R [1,G H,H] and perhaps B [1,2 G H] of an ONNX recurrent operator as a layer's weights.
std::string runRecurrentCase(const std::string& name,
                             const std::function<Layer(std::int64_t inputs, std::int64_t hidden)>& layer,
                             const std::vector<std::int64_t>& order) {
    TorchCase given = readTorchCase("node/test_" + name);
    if (given.inputs.size() < 3) return "the case has no weights";
    const Tensor w = given.inputs[1].tensor().selected(0, 0), r = given.inputs[2].tensor().selected(0, 0);
    const std::int64_t hidden = r.dim(1), gates = w.dim(0);
    Tensor bias = Tensor::zeros(tensor::DType::Float32, {2 * gates}).value();
    if (given.inputs.size() > 3) bias = given.inputs[3].tensor().selected(0, 0);
    given.weights = {blocks(w, 0, order, hidden), blocks(r, 0, order, hidden), blocks(bias, 0, order, hidden),
                     blocks(bias, gates, order, hidden)};
    given.inputs.resize(1);
    const Layer module = layer(w.dim(1), hidden);
    // The operator's first output, where the case has it, is [T,1,N,H]; the last state is [1,N,H] in both.
    const Tensor last = given.outputs.back();
    given.outputs.clear();
    if (const std::string problem = runTorchCase(module, given); !problem.empty()) return problem;
    return compareTensors(runLayer(module, given.inputs).outputs[1], last, 1e-3, 1e-6);
}

}  // namespace

class TestNnTorchCases : public QObject {
    Q_OBJECT

  private slots:
    void layer_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < cases().size(); ++i) QTest::newRow(cases()[i].first) << static_cast<int>(i);
    }
    void layer() {
        QFETCH(int, index);
        SONDE_NEEDS_SET("onnx-conformance", torchCases());
        const auto& [name, layer] = cases()[static_cast<std::size_t>(index)];
        const std::string problem = runTorchCase(layer, readTorchCase(std::string("pytorch-converted/test_") + name));
        QVERIFY2(problem.empty(), problem.c_str());
    }

    /// The case's target is a constant of its graph: the one tensor of the inputs' shape.
    void poissonLoss() {
        SONDE_NEEDS_SET("onnx-conformance", torchCases());
        const std::filesystem::path folder =
            (torchCases() + "/pytorch-converted/test_PoissonNLLLLoss_no_reduce").toStdString();
        const auto model = io::readOnnx(base::MappedFile::open(folder / "model.onnx").value());
        QVERIFY(model);
        Value target;
        for (graph::ExprId id : model->graph.main().order) {
            const graph::Expr& expr = model->graph.expr(id);
            if (expr.kind == graph::ExprKind::Constant) target = *model->graph.node(expr.outputs.front()).constant;
        }
        TorchCase given = readTorchCase("pytorch-converted/test_PoissonNLLLLoss_no_reduce");
        QVERIFY(target.isTensor());
        given.weights.clear();
        given.inputs.push_back(target);
        // The case multiplies in the order t x; the sum e^x - t x is the same.
        const std::string problem =
            runTorchCase(make<nn::PoissonNLLLoss>(true, false, 1e-8, nn::Reduction::None), given);
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void operators() {
        SONDE_NEEDS_SET("onnx-conformance", torchCases());
        using Make = std::function<Layer(TorchCase&)>;
        std::string problems;
        const auto row = [&problems](const char* name, const Make& make) {
            TorchCase given = readTorchCase(std::string("node/test_") + name);
            const Layer layer = make(given);
            const std::string problem = runTorchCase(layer, given);
            if (!problem.empty()) problems += std::string(name) + ": " + problem + "\n";
        };
        const auto plain = [&row](const char* name, Layer layer) { row(name, [layer](TorchCase&) { return layer; }); };
        // What a case gives behind x (or x and the target) are the layer's weights.
        const auto weighted = [&row](const char* name, Layer layer, std::size_t inputs = 1) {
            row(name, [layer, inputs](TorchCase& given) {
                for (std::size_t i = inputs; i < given.inputs.size(); ++i)
                    given.weights.push_back(given.inputs[i].tensor());
                given.inputs.resize(std::min(given.inputs.size(), inputs));
                given.outputs.resize(1);  // mean and deviation are not the layer's
                return layer;
            });
        };
        const auto classWeights = [&row](const char* name, std::function<Layer(Tensor)> make) {
            row(name, [make](TorchCase& given) {
                const Tensor weight = given.inputs.size() > 2 ? given.inputs[2].tensor() : Tensor();
                if (weight.defined()) given.weights = {weight};
                given.inputs.resize(2);
                return make(weight);
            });
        };
        using nn::Reduction;
        plain("mish", make<nn::Mish>());
        plain("celu", make<nn::CELU>(2));
        plain("hardswish", make<nn::Hardswish>());
        plain("gelu_default_2", make<nn::GELU>());
        plain("gelu_tanh_2", make<nn::GELU>("tanh"));
        plain("shrink_soft", make<nn::Softshrink>(1.5));
        plain("softplus", make<nn::Softplus>());
        plain("lrn_default", make<nn::LocalResponseNorm>(3));
        weighted("layer_normalization_4d_axis2", make<nn::LayerNorm>(nn::Ints{4, 5}));
        weighted("layer_normalization_3d_axis1_epsilon", make<nn::LayerNorm>(nn::Ints{3, 5}, 1e-1));
        weighted("rms_normalization_4d_axis2", make<nn::RMSNorm>(nn::Ints{4, 5}, 1e-5));
        weighted("group_normalization_epsilon", make<nn::GroupNorm>(2, 4, 1e-2));
        weighted("instancenorm_epsilon", make<nn::InstanceNorm2d>(3, 1e-2, 0.1, true));
        classWeights("sce_mean", [](const Tensor& w) { return make<nn::CrossEntropyLoss>(w); });
        classWeights("sce_sum", [](const Tensor& w) { return make<nn::CrossEntropyLoss>(w, -100, Reduction::Sum); });
        classWeights("sce_none", [](const Tensor& w) { return make<nn::CrossEntropyLoss>(w, -100, Reduction::None); });
        classWeights("sce_mean_weight", [](const Tensor& w) { return make<nn::CrossEntropyLoss>(w); });
        classWeights("sce_none_weights",
                     [](const Tensor& w) { return make<nn::CrossEntropyLoss>(w, -100, Reduction::None); });
        classWeights("nllloss_NC", [](const Tensor& w) { return make<nn::NLLLoss>(w, -100, Reduction::None); });
        classWeights("nllloss_NCd1_weight_ii", [](const Tensor& w) { return make<nn::NLLLoss>(w, 1); });
        classWeights("nllloss_NCd1d2_with_weight_reduction_sum",
                     [](const Tensor& w) { return make<nn::NLLLoss>(w, -100, Reduction::Sum); });
        classWeights("nllloss_NCd1d2_no_weight_reduction_mean_ii",
                     [](const Tensor& w) { return make<nn::NLLLoss>(w, 1); });
        QVERIFY2(problems.empty(), problems.c_str());
    }
    void recurrent() {
        SONDE_NEEDS_SET("onnx-conformance", torchCases());
        const auto lstm = [](std::int64_t inputs, std::int64_t hidden) { return make<nn::LSTM>(inputs, hidden); };
        const auto gru = [](std::int64_t inputs, std::int64_t hidden) { return make<nn::GRU>(inputs, hidden); };
        const auto rnn = [](std::int64_t inputs, std::int64_t hidden) { return make<nn::RNN>(inputs, hidden); };
        // ONNX: i, o, f, c; z, r, h. Torch: i, f, g, o; r, z, n.
        for (const char* name : {"lstm_defaults", "lstm_with_initial_bias"})
            QCOMPARE(runRecurrentCase(name, lstm, {0, 2, 3, 1}), std::string());
        for (const char* name : {"gru_defaults", "gru_with_initial_bias"})
            QCOMPARE(runRecurrentCase(name, gru, {1, 0, 2}), std::string());
        for (const char* name : {"simple_rnn_defaults", "simple_rnn_with_initial_bias", "rnn_seq_length"}) {
            QCOMPARE(runRecurrentCase(name, rnn, {0}), std::string());
        }
    }
};

QTEST_GUILESS_MAIN(TestNnTorchCases)

}  // namespace tst_nn_torch_cases

#include "tst_nn_torch_cases.moc"
