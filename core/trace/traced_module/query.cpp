#include "core/trace/traced_module/query.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <utility>

#include "core/base/glob.h"
#include "core/trace/module.h"

namespace sonde::trace {

ExprQuery ExprQuery::callFunction(std::string_view function) const {
    return ExprQuery(kept([&](const TracedExpr& expr) {
        if (expr.kind() != TracedExpr::Kind::CallFunction) return false;
        const TracedOperation& operation = expr.operation();
        return function.empty() || function == operation.display || function == operation.target ||
               function == expr.target();
    }));
}

ExprQuery ExprQuery::callMethod(std::string_view method) const {
    return ExprQuery(kept([&](const TracedExpr& expr) {
        return expr.kind() == TracedExpr::Kind::CallMethod && (method.empty() || method == expr.target());
    }));
}

ExprQuery ExprQuery::exprId(std::vector<std::uint64_t> ids) const {
    return ExprQuery(kept([&](const TracedExpr& expr) { return hasId(expr, ids); }));
}

namespace {

/// A class of core/nn, by the name that files have of it, and the class that it derives from, but for Layer. Files know
/// no more than names; the layers' C++ classes are out of reach here. tst_nn_base_classes compares this with core/nn.
constexpr std::pair<std::string_view, std::string_view> kBaseClasses[] = {
    {"CELU", "ActivationLayer"},
    {"ELU", "ActivationLayer"},
    {"GELU", "ActivationLayer"},
    {"GLU", "ActivationLayer"},
    {"Hardshrink", "ActivationLayer"},
    {"Hardsigmoid", "ActivationLayer"},
    {"Hardswish", "ActivationLayer"},
    {"Hardtanh", "ActivationLayer"},
    {"LeakyReLU", "ActivationLayer"},
    {"LogSigmoid", "ActivationLayer"},
    {"LogSoftmax", "ActivationLayer"},
    {"Mish", "ActivationLayer"},
    {"ReLU", "ActivationLayer"},
    {"ReLU6", "ActivationLayer"},
    {"SELU", "ActivationLayer"},
    {"SiLU", "ActivationLayer"},
    {"Sigmoid", "ActivationLayer"},
    {"Softmax", "ActivationLayer"},
    {"Softmax2d", "ActivationLayer"},
    {"Softmin", "ActivationLayer"},
    {"Softplus", "ActivationLayer"},
    {"Softshrink", "ActivationLayer"},
    {"Softsign", "ActivationLayer"},
    {"Tanh", "ActivationLayer"},
    {"Tanhshrink", "ActivationLayer"},
    {"Threshold", "ActivationLayer"},
    {"AdaptiveAvgPool1d", "AdaptiveAvgPool"},
    {"AdaptiveAvgPool2d", "AdaptiveAvgPool"},
    {"AdaptiveAvgPool3d", "AdaptiveAvgPool"},
    {"AdaptiveMaxPool1d", "AdaptiveMaxPool"},
    {"AdaptiveMaxPool2d", "AdaptiveMaxPool"},
    {"AdaptiveMaxPool3d", "AdaptiveMaxPool"},
    {"AdaptiveAvgPool", "AdaptivePool"},
    {"AdaptiveMaxPool", "AdaptivePool"},
    {"AvgPool1d", "AvgPool"},
    {"AvgPool2d", "AvgPool"},
    {"AvgPool3d", "AvgPool"},
    {"BatchNorm1d", "BatchNorm"},
    {"BatchNorm2d", "BatchNorm"},
    {"BatchNorm3d", "BatchNorm"},
    {"SyncBatchNorm", "BatchNorm"},
    {"BatchNorm", "ChannelNorm"},
    {"InstanceNorm", "ChannelNorm"},
    {"Conv1d", "Conv"},
    {"Conv2d", "Conv"},
    {"Conv3d", "Conv"},
    {"Conv", "ConvLayer"},
    {"ConvTranspose", "ConvLayer"},
    {"ConvTranspose1d", "ConvTranspose"},
    {"ConvTranspose2d", "ConvTranspose"},
    {"ConvTranspose3d", "ConvTranspose"},
    {"AlphaDropout", "DropoutLayer"},
    {"Dropout", "DropoutLayer"},
    {"Dropout1d", "DropoutLayer"},
    {"Dropout2d", "DropoutLayer"},
    {"Dropout3d", "DropoutLayer"},
    {"FeatureAlphaDropout", "DropoutLayer"},
    {"FractionalMaxPool2d", "FractionalMaxPool"},
    {"FractionalMaxPool3d", "FractionalMaxPool"},
    {"InstanceNorm1d", "InstanceNorm"},
    {"InstanceNorm2d", "InstanceNorm"},
    {"InstanceNorm3d", "InstanceNorm"},
    {"LPPool1d", "LPPool"},
    {"LPPool2d", "LPPool"},
    {"LPPool3d", "LPPool"},
    {"NonDynamicallyQuantizableLinear", "Linear"},
    {"CTCLoss", "Loss"},
    {"CosineEmbeddingLoss", "Loss"},
    {"GaussianNLLLoss", "Loss"},
    {"MarginRankingLoss", "Loss"},
    {"PlainLoss", "Loss"},
    {"TripletMarginLoss", "Loss"},
    {"TripletMarginWithDistanceLoss", "Loss"},
    {"WeightedLoss", "Loss"},
    {"MaxPool1d", "MaxPool"},
    {"MaxPool2d", "MaxPool"},
    {"MaxPool3d", "MaxPool"},
    {"MaxUnpool1d", "MaxUnpool"},
    {"MaxUnpool2d", "MaxUnpool"},
    {"MaxUnpool3d", "MaxUnpool"},
    {"CircularPad1d", "PadLayer"},
    {"CircularPad2d", "PadLayer"},
    {"CircularPad3d", "PadLayer"},
    {"ConstantPad1d", "PadLayer"},
    {"ConstantPad2d", "PadLayer"},
    {"ConstantPad3d", "PadLayer"},
    {"ReflectionPad1d", "PadLayer"},
    {"ReflectionPad2d", "PadLayer"},
    {"ReflectionPad3d", "PadLayer"},
    {"ReplicationPad1d", "PadLayer"},
    {"ReplicationPad2d", "PadLayer"},
    {"ReplicationPad3d", "PadLayer"},
    {"ZeroPad1d", "PadLayer"},
    {"ZeroPad2d", "PadLayer"},
    {"ZeroPad3d", "PadLayer"},
    {"HingeEmbeddingLoss", "PlainLoss"},
    {"HuberLoss", "PlainLoss"},
    {"KLDivLoss", "PlainLoss"},
    {"L1Loss", "PlainLoss"},
    {"MSELoss", "PlainLoss"},
    {"MultiLabelMarginLoss", "PlainLoss"},
    {"PoissonNLLLoss", "PlainLoss"},
    {"SmoothL1Loss", "PlainLoss"},
    {"SoftMarginLoss", "PlainLoss"},
    {"GRU", "Recurrent"},
    {"LSTM", "Recurrent"},
    {"RNN", "Recurrent"},
    {"GRUCell", "RecurrentCell"},
    {"LSTMCell", "RecurrentCell"},
    {"RNNCell", "RecurrentCell"},
    {"CrossMapLRN2d", "ResponseNorm"},
    {"LocalResponseNorm", "ResponseNorm"},
    {"TransformerDecoderLayer", "TransformerLayer"},
    {"TransformerEncoderLayer", "TransformerLayer"},
    {"UpsamplingBilinear2d", "Upsample"},
    {"UpsamplingNearest2d", "Upsample"},
    {"BCELoss", "WeightedLoss"},
    {"BCEWithLogitsLoss", "WeightedLoss"},
    {"CrossEntropyLoss", "WeightedLoss"},
    {"MultiLabelSoftMarginLoss", "WeightedLoss"},
    {"MultiMarginLoss", "WeightedLoss"},
    {"NLLLoss", "WeightedLoss"},
};

/// "Conv2d" of "sonde::nn::Conv2d", and "ZeroPad2d" of "sonde::nn::ZeroPad<2ul>": the layers that are one template for
/// each count of axes have the names of PyTorch.
std::string layerName(std::string_view type) {
    const std::size_t colon = type.rfind(':');
    if (colon != std::string_view::npos) type.remove_prefix(colon + 1);
    const std::size_t bracket = type.find('<');
    if (bracket == std::string_view::npos) return std::string(type);
    const std::string_view axes =
        type.substr(bracket + 1, type.find_first_not_of("0123456789", bracket + 1) - bracket - 1);
    return std::string(type.substr(0, bracket)).append(axes) + 'd';
}

bool isDerived(std::string_view name, std::string_view base) {
    while (name != base) {
        const auto* row = std::ranges::find(kBaseClasses, name, &std::pair<std::string_view, std::string_view>::first);
        if (row == std::end(kBaseClasses)) return false;
        name = row->second;
    }
    return true;
}

}  // namespace

bool wasBuiltAs(const Module& module, const std::type_info& type) {
    if (!module.isLibrary()) return false;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                           &std::free);
    if (status != 0 || !name) return false;
    const std::string_view builtAs = name.get();
    const std::string savedAs = module.className();
    const std::size_t dot = savedAs.rfind('.');
    const std::string base = layerName(builtAs);
    const auto saved = std::string_view(savedAs).substr(dot == std::string::npos ? 0 : dot + 1);
    return saved == base || (builtAs.starts_with("sonde::nn::") && isDerived(saved, base));
}

NodeQuery NodeQuery::nodeId(std::vector<std::uint64_t> ids) const {
    return NodeQuery(kept([&](const TracedNode& node) { return hasId(node, ids); }));
}

NodeQuery NodeQuery::name(std::string_view pattern, bool ignoreCase) const {
    return NodeQuery(
        kept([&](const TracedNode& node) { return base::globMatches(pattern, node.fullName(), ignoreCase); }));
}

}  // namespace sonde::trace
