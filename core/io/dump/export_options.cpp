#include "core/io/dump/export_options.h"

#include <algorithm>
#include <array>

namespace sonde::io::dump {

namespace {

struct Flag {
    std::string_view name;
    bool InferenceOptions::*member;
    int bit;
};
constexpr std::array kFlags{
    Flag{"enable_io16xc32", &InferenceOptions::io16xc32, 0},
    Flag{"enable_ioc16", &InferenceOptions::ioc16, 1},
    Flag{"enable_fuse_conv_bias_nonlinearity", &InferenceOptions::fuseConvBiasNonlinearity, 2},
    Flag{"enable_fuse_conv_bias_with_z", &InferenceOptions::fuseConvBiasWithZ, 3},
    Flag{"weight_preprocess", &InferenceOptions::weightPreprocess, 4},
    Flag{"enable_fuse_preprocess", &InferenceOptions::fusePreprocess, 5},
    Flag{"enable_fuse_grain", &InferenceOptions::fuseGrain, 6},
};
/// By number in the bit field; 0 is the default layout.
constexpr std::array<std::string_view, 9> kLayouts{"",           "nchw4",  "hwcd4", "nchw88", "nchw44",
                                                   "nchw44_dot", "nchw32", "chwn4", "nchw64"};

}  // namespace

base::Result<void> InferenceOptions::set(std::string_view name, bool value) {
    for (const Flag& flag : kFlags) {
        if (flag.name != name) continue;
        this->*flag.member = value;
        return {};
    }
    const std::string_view wanted = name.starts_with("enable_") ? name.substr(7) : std::string_view{};
    const auto known = wanted.empty() ? kLayouts.end() : std::ranges::find(kLayouts, wanted);
    if (known == kLayouts.end()) return base::usageError("unknown options: ['" + std::string(name) + "']");
    if (!value) {
        if (layout == wanted) layout.clear();
        return {};
    }
    if (!layout.empty() && layout != wanted)
        return base::usageError("invalid options of layout transform: " + layout + " and " + std::string(wanted), {},
                                "choose one layout");
    layout = wanted;
    return {};
}

std::uint64_t InferenceOptions::bits() const {
    std::uint64_t bits = 0;
    for (const Flag& flag : kFlags) bits |= this->*flag.member ? std::uint64_t{1} << flag.bit : 0;
    const auto number = static_cast<std::uint64_t>(std::ranges::find(kLayouts, layout) - kLayouts.begin());
    return bits | number << 32;
}

std::uint64_t InferenceOptions::bothBits(std::uint64_t before, std::uint64_t later) {
    constexpr int kFirstLayoutBit = 32;
    constexpr std::uint64_t kFlagBits = (std::uint64_t{1} << kFirstLayoutBit) - 1;
    const std::uint64_t layout = (later >> kFirstLayoutBit != 0 ? later : before) & ~kFlagBits;
    return ((before | later) & kFlagBits) | layout;
}

base::Result<std::vector<std::string>> InferenceOptions::names(std::uint64_t bits) {
    const std::uint64_t number = bits >> 32;
    if (number >= kLayouts.size() || (bits & 0xffffffff) >= 128)
        return base::unreadable("the options of the dump are invalid: " + std::to_string(bits));
    std::vector<std::string> names;
    for (const Flag& flag : kFlags) {
        if (bits >> flag.bit & 1) names.emplace_back(flag.name);
    }
    if (number != 0) names.push_back("enable_" + std::string(kLayouts[number]));
    return names;
}

}  // namespace sonde::io::dump
