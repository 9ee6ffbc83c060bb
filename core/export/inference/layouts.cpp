#include "core/export/inference/layouts.h"

#include <array>

namespace sonde::exporting {

namespace {

/// "NCHW -> N C/8 H W C%8"
std::string activation(std::int64_t block) {
    const std::string p = std::to_string(block);
    return "NCHW -> N C/" + p + " H W C%" + p;
}

std::int64_t paddedTo(std::int64_t count, std::int64_t block) { return (count + block - 1) / block * block; }

/// Sizes that the rules ask for.
struct Sizes {
    std::int64_t inputs, outputs;  ///< of one group
    bool dense, channelWise;
    explicit Sizes(const ConvShape& conv)
        : inputs(conv.weights[1]), outputs(conv.weights[0] / conv.groups), dense(conv.groups == 1),
          channelWise(conv.groups > 1 && inputs == 1 && outputs == 1) {}
};

/// nchw88, nchw44 and nchw44_dot.
std::optional<ConvForm> wideBlocks(const ConvShape& conv, std::int64_t block, bool dot) {
    if (conv.hasSum) return std::nullopt;
    const Sizes size(conv);
    const std::string p = std::to_string(block), dots = "O%" + p + " I%" + p, plain = "I%" + p + " O%" + p;
    const std::string& inner = dot && conv.quantised ? dots : plain;
    const std::int64_t outputs = conv.weights[0];
    if (size.channelWise) {
        if (conv.groups % block != 0) return std::nullopt;
        return ConvForm{activation(block), "GOIRS -> G/" + p + " O I R S G%" + p, activation(block), true, outputs};
    }
    if (!size.dense) {
        if (size.inputs % block != 0 || size.outputs % block != 0) return std::nullopt;
        return ConvForm{activation(block), "GOIRS -> G O/" + p + " I/" + p + " R S " + inner, activation(block), true,
                        outputs};
    }
    const std::int64_t padded = paddedTo(outputs, block);
    if (padded != outputs && !conv.canPad) return std::nullopt;
    if (size.inputs % block == 0)
        return ConvForm{activation(block), "OIRS -> O/" + p + " I/" + p + " R S " + inner, activation(block), false,
                        padded};
    if (size.inputs > block || conv.dilated) return std::nullopt;
    if (block == 4) {
        const std::int64_t kernel = conv.weights[2], stride = conv.strideH;
        const bool knownKernel =
            kernel == conv.weights[3] && (kernel == 2 || kernel == 3 || kernel == 5 || kernel == 7);
        if (!knownKernel || stride != conv.strideW || stride > 2 || conv.nonlinearity == "Sigmoid") return std::nullopt;
    }
    return ConvForm{"", "OIRS -> O/" + p + " R S I O%" + p, activation(block), false, padded};
}

std::optional<ConvForm> nchw4(const ConvShape& conv) {
    const Sizes size(conv);
    if (!conv.quantised || size.channelWise || size.outputs % 4 != 0) return std::nullopt;
    if (size.inputs % 4 != 0 && !(size.dense && size.inputs < 4)) return std::nullopt;
    if (size.dense) return ConvForm{activation(4), "OIRS -> O I/4 R S I%4", activation(4), false, conv.weights[0]};
    return ConvForm{activation(4), "GOIRS -> G O I/4 R S I%4", activation(4), true, conv.weights[0]};
}

std::optional<ConvForm> nchw32(const ConvShape& conv) {
    const bool isLarge = conv.height >= 3 && conv.width >= 3;
    if (!conv.bytesOut || conv.groups != 1 || !isLarge || conv.weights[0] % 32 != 0 || conv.weights[1] % 32 != 0)
        return nchw4(conv);
    return ConvForm{activation(32), "OIRS -> O I/32 R S I%32", activation(32), false, conv.weights[0]};
}

std::optional<ConvForm> chwn4(const ConvShape& conv) {
    auto form = nchw4(conv);
    if (!form || !conv.bytesOut || conv.groups != 1) return form;
    const std::string layout = "NCHW -> C/4 H W N C%4";
    return ConvForm{layout, "OIRS -> I/4 R S O I%4", layout, false, conv.weights[0]};
}

std::optional<ConvForm> nchw64(const ConvShape& conv) {
    if (!conv.quantised || conv.groups != 1) return std::nullopt;
    const auto padded = [](std::int64_t channels) { return paddedTo(channels, channels <= 16 ? 4 : 32); };
    const std::int64_t inputs = padded(conv.weights[1]), outputs = padded(conv.weights[0]);
    if (outputs != conv.weights[0] && !conv.canPad) return std::nullopt;
    const std::int64_t block = conv.bytesOut && inputs % 32 == 0 && outputs % 32 == 0 ? 32 : 4;
    const std::string p = std::to_string(block);
    return ConvForm{activation(block), "OIRS -> O I/" + p + " R S I%" + p, activation(block), false, outputs};
}

std::optional<ConvForm> hwcd4(const ConvShape& conv) {
    const Sizes size(conv);
    const std::string layout = "NCHW -> N H C/4 W C%4";
    if (size.channelWise) {
        if (conv.groups % 4 != 0) return std::nullopt;
        return ConvForm{layout, "GOIRS -> G/4 O R S G%4", layout, true, conv.weights[0]};
    }
    if (size.outputs % 4 != 0 || (size.inputs % 4 != 0 && !size.dense)) return std::nullopt;
    const std::string tail = conv.quantised ? "I/4 O%4 I%4" : size.dense ? "I+4 O%4" : "I O%4";
    if (size.dense) return ConvForm{layout, "OIRS -> O/4 R S " + tail, layout, false, conv.weights[0]};
    return ConvForm{layout, "GOIRS -> G O/4 R S " + tail, layout, true, conv.weights[0]};
}

}  // namespace

std::optional<ConvForm> formIn(std::string_view layout, const ConvShape& conv) {
    if (layout == "nchw88") return wideBlocks(conv, 8, false);
    if (layout == "nchw44") return wideBlocks(conv, 4, false);
    if (layout == "nchw44_dot") return wideBlocks(conv, 4, true);
    if (layout == "nchw4") return nchw4(conv);
    if (layout == "nchw32") return nchw32(conv);
    if (layout == "chwn4") return chwn4(conv);
    if (layout == "nchw64") return nchw64(conv);
    if (layout == "hwcd4") return hwcd4(conv);
    return std::nullopt;
}

}  // namespace sonde::exporting
