#include "core/session/load_and_run/options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/nearest.h"
#include "core/base/number_text.h"
#include "core/base/thread_limits.h"

namespace sonde::session {

namespace {

using base::Result;
using base::usageError;
using Options = LoadAndRunOptions;

Result<bool> switchOf(std::string_view value) {
    if (value.empty() || value == "true") return true;
    if (value == "false") return false;
    return usageError("'" + std::string(value) + "' is neither true nor false");
}

template <auto Member>
Result<void> setSwitch(Options& options, std::string_view value) {
    SONDE_ASSIGN(options.*Member, switchOf(value));
    return {};
}

template <auto Member>
Result<void> setText(Options& options, std::string_view value) {
    if (value.empty()) return usageError("a value is missing");
    options.*Member = value;
    return {};
}

constexpr std::size_t kMaxCount = 1'000'000'000;

Result<std::size_t> countOf(std::string_view value, std::size_t minimum, std::size_t maximum = kMaxCount) {
    const auto count = base::parseNumber<std::uint64_t>(value);
    if (!count || *count < minimum || *count > maximum)
        return usageError("'" + std::string(value) + "' is not a number from " + std::to_string(minimum) + " to " +
                          std::to_string(maximum));
    return static_cast<std::size_t>(*count);
}

template <auto Member, std::size_t Minimum, std::size_t Maximum = kMaxCount>
Result<void> setCount(Options& options, std::string_view value) {
    SONDE_ASSIGN(options.*Member, countOf(value, Minimum, Maximum));
    return {};
}

Result<void> setBatchSize(Options& options, std::string_view value) {
    if (value == "-1") {  // MegEngine's default
        options.batchSize = 0;
        return {};
    }
    SONDE_ASSIGN(const std::size_t count, countOf(value, 1));
    options.batchSize = static_cast<std::int64_t>(count);
    return {};
}

Result<void> setRange(Options& options, std::string_view value) {
    const auto range = base::parseNumber<double>(value);
    if (!range || !(*range >= 0) || std::isinf(*range))
        return usageError("'" + std::string(value) + "' is not a positive number");
    options.range = *range;
    return {};
}

/// "INTERVAL" or "INTERVAL:FIRST".
Result<void> setVarCheck(Options& options, std::string_view value) {
    const std::size_t colon = value.find(':');
    VarCheck check;
    SONDE_ASSIGN(check.interval, countOf(value.substr(0, colon), 1));
    if (colon != std::string_view::npos) {
        SONDE_ASSIGN(check.first, countOf(value.substr(colon + 1), 0));
    }
    options.varCheck = check;
    return {};
}

Result<void> setLayoutTransform(Options& options, std::string_view value) {
    static constexpr std::array<std::string_view, 3> kTargets{"cpu", "cuda", "unspec"};
    if (std::ranges::find(kTargets, value) == kTargets.end())
        return usageError("unsupported target '" + std::string(value) + "'", {}, "targets: cpu, cuda, unspec");
    options.layoutTransform = value;
    return {};
}

/// An option of the optimisation, which it switches on.
Result<void> setInference(Options& options, const char* name, std::string_view value) {
    SONDE_ASSIGN(const bool isOn, switchOf(value));
    SONDE_TRY(options.inference.set(name, isOn));
    options.optimize = options.optimize || isOn;
    return {};
}

/// Of an option without effect: only its value is checked.
Result<void> ignore(Options&, std::string_view value) {
    SONDE_TRY(switchOf(value));
    return {};
}

constexpr LoadAndRunOption layout(std::string_view name, Result<void> (*set)(Options&, std::string_view)) {
    return {name, "", "Layout of activations and weights that the name says: channels in blocks", "", set};
}
constexpr LoadAndRunOption without(std::string_view name, std::string_view help, std::string_view reason) {
    return {name, "", help, reason, ignore};
}

// clang-format off
constexpr std::array kOptions{
    LoadAndRunOption{"input", "TEXT", "Inputs, instead of the test cases: NAME:DATA;NAME:DATA with a .npy, .json, .ppm or .pgm file, [1,2,3] or {2,3}", "", setText<&Options::input>},
    LoadAndRunOption{"batch_size", "N", "Repeat or cut the samples of every input to N", "", setBatchSize},
    LoadAndRunOption{"iter", "N", "Number of timed runs for each case (10)", "", setCount<&Options::iterations, 0>},
    LoadAndRunOption{"warmup_iter", "N", "Number of runs before them (1)", "", setCount<&Options::warmUps, 0>},
    LoadAndRunOption{"thread", "N", "Number of threads (1)", "", setCount<&Options::threads, 1, base::kMaxThreads>},
    LoadAndRunOption{"profile", "FILE", "Write the times of the last run of each operation as JSON", "", setText<&Options::profile>},
    LoadAndRunOption{"range", "R", "Fail if the magnitude of a float that an operation computes is not below R (0: no limit)", "", setRange},
    LoadAndRunOption{"check_var_value", "N[:FIRST]", "Fail if every N-th value, from number FIRST (0) on, changes between runs", "", setVarCheck},
    LoadAndRunOption{"io_dump", "FILE", "Write every value of the first run of each case as text", "", setText<&Options::ioDump>},
    LoadAndRunOption{"bin_io_dump", "DIR", "Write every value of the first run of each case as run0-var12.npy", "", setText<&Options::binIoDump>},
    LoadAndRunOption{"bin_out_dump", "DIR", "Write the outputs of the first run of each case as run0-var12.npy", "", setText<&Options::binOutDump>},
    LoadAndRunOption{"model_info", "", "Print the inputs and outputs", "", setSwitch<&Options::modelInfo>},
    LoadAndRunOption{"disable_assert_throw", "", "Values that differ from the expected ones are no error", "", setSwitch<&Options::disableAssertThrow>},
    LoadAndRunOption{"first_difference", "MODEL", "Name the first value of each case that differs from that of MODEL, or of the unoptimised graph", "", setText<&Options::firstDifference>},
    LoadAndRunOption{"get_static_mem_info", "FILE", "Write how long each value is needed, and the peak of memory, as JSON", "", setText<&Options::staticMemoryInfo>},
    LoadAndRunOption{"optimize_for_inference", "", "Optimise the graph before running it", "", setSwitch<&Options::optimize>},
    LoadAndRunOption{"enable_fuse_conv_bias_nonlinearity", "", "Convolution, bias and activation become one operation", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_fuse_conv_bias_nonlinearity", value); }},
    LoadAndRunOption{"enable_fuse_conv_bias_with_z", "", "The same with a sum", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_fuse_conv_bias_with_z", value); }},
    LoadAndRunOption{"enable_fuse_grain", "", "A sum divided by the count of its elements becomes a mean", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_fuse_grain", value); }},
    LoadAndRunOption{"enable_fuse_preprocess", "", "The operators that prepare the input become one", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_fuse_preprocess", value); }},
    LoadAndRunOption{"enable_io16xc32", "", "Operators exchange float16 and compute in float32", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_io16xc32", value); }},
    LoadAndRunOption{"enable_ioc16", "", "Operators compute in float16", "",
                     [](Options& options, std::string_view value) { return setInference(options, "enable_ioc16", value); }},
    layout("enable_nchw4", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw4", value); }),
    layout("enable_chwn4", [](Options& options, std::string_view value) { return setInference(options, "enable_chwn4", value); }),
    layout("enable_nchw44", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw44", value); }),
    layout("enable_nchw44_dot", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw44_dot", value); }),
    layout("enable_nchw88", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw88", value); }),
    layout("enable_nchw32", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw32", value); }),
    layout("enable_nchw64", [](Options& options, std::string_view value) { return setInference(options, "enable_nchw64", value); }),
    layout("enable_nhwcd4", [](Options& options, std::string_view value) { return setInference(options, "enable_hwcd4", value); }),
    layout("enable_hwcd4", [](Options& options, std::string_view value) { return setInference(options, "enable_hwcd4", value); }),
    LoadAndRunOption{"layout_transform", "TARGET", "Try the layouts that are meant for TARGET (cpu, cuda, unspec: all) and run the fastest", "", setLayoutTransform},
    LoadAndRunOption{"layout_transform_dump", "FILE", "With --layout_transform: write the graph in that layout, with its test cases", "", setText<&Options::layoutTransformDump>},

    without("fast_run", "Choose algorithms by measuring", "kernels are chosen by shape and instruction set"),
    without("full_run", "Choose algorithms by measuring all of them", "kernels are chosen by shape and instruction set"),
    without("copy_to_host", "Copy outputs to the host", "values are in the memory of the host already"),
    without("weight_preprocess", "Prepare weights before the first run", "weights are packed once, when they are first used"),
    without("record_comp_seq", "Record the commands of a run", "there is no device that takes commands"),
    without("record_comp_seq2", "Record the commands of a run, and drop the graph", "there is no device that takes commands"),
    without("no_sanity_check", "Do not check variables in the first run", "there is no such check"),
    without("fake_first", "Only prepare memory in the first run", "memory is taken while running, and kept between runs"),
    without("const_shape", "Take shapes as constant", "shapes are inferred once, and again for other inputs"),
    without("check_dispatch", "Check that operators run on the CPU", "all operators run on the CPU"),
};
// clang-format on

}  // namespace

std::span<const LoadAndRunOption> loadAndRunOptions() { return kOptions; }

Result<void> LoadAndRunOptions::set(std::string_view name, std::string_view value) {
    std::string plain(name);
    std::ranges::replace(plain, '-', '_');
    const auto known = std::ranges::find(kOptions, plain, &LoadAndRunOption::name);
    if (known == kOptions.end()) {
        std::vector<std::string> names;
        for (const LoadAndRunOption& each : kOptions) names.emplace_back(each.name);
        return usageError("there is no option --" + std::string(name), {}, base::didYouMean(plain, names));
    }
    if (auto done = known->set(*this, value); !done) return std::move(done).error().at("--" + std::string(name));
    if (!known->noEffect.empty() && value != "false") withoutEffect.push_back(plain);
    return {};
}

}  // namespace sonde::session
