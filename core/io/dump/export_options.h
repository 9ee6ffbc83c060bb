#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::io::dump {

/// The switches of dump.md, "Inference options", by name. A layout and the two precisions are kept in the metadata's
/// bit field.
struct InferenceOptions {
    bool fuseConvBiasNonlinearity = false;
    bool fuseConvBiasWithZ = false;  ///< includes the one before
    bool fusePreprocess = false;
    bool fuseGrain = true;
    bool weightPreprocess = false;
    bool io16xc32 = false;
    bool ioc16 = false;
    std::string layout;  ///< "nchw4", "nhwcd4" …; empty: the default

    /// Usage errors: "unknown options: [NAME]", a second layout.
    base::Result<void> set(std::string_view name, bool value);
    /// bit 0 io16xc32, 1 ioc16, 2 conv_bias_nonlinearity, 3 with_z, 4 weight_preprocess, 5 preprocess, 6 grain; the
    /// layout's number from bit 32 on. All defaults: 64.
    std::uint64_t bits() const;
    /// Names of what is switched on, as `set` takes them. Error: bits that mean nothing.
    static base::Result<std::vector<std::string>> names(std::uint64_t bits);
    /// What a graph was optimised with that went through both, `later` after `before`: of two layouts the later one.
    static std::uint64_t bothBits(std::uint64_t before, std::uint64_t later);
};

}  // namespace sonde::io::dump
