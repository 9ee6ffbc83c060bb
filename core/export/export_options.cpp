#include "core/export/export_options.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "core/base/number_text.h"
#include "core/base/unicode.h"

namespace sonde::exporting {

namespace {

using enum ExportFormat;

constexpr std::string_view kNames = "Names", kOptimisation = "Optimisation", kPrecision = "Layout and precision",
                           kCases = "Test cases", kMetadata = "Metadata", kFile = "File";
constexpr std::string_view kOptimise = "optimize-for-inference", kInputData = "input-data";

std::string joined(const std::vector<std::string>& items, char separator) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : std::string(1, separator)) + items[i];
    return text;
}

/// No text has no items. Empty items are left out unless `keepsEmpty`.
std::vector<std::string> split(std::string_view text, char separator, bool keepsEmpty) {
    std::vector<std::string> items;
    for (bool isMore = !text.empty(); isMore;) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0 || keepsEmpty) items.emplace_back(text.substr(0, end));
        isMore = end < text.size();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return items;
}

constexpr std::string_view kNoAssert = "no-assert", kDumpFormat = "dump-format";

// What takes the effect of an option away.
std::string_view byNoAssert(const ExportSettings& settings) { return settings.dump.noAssert ? kNoAssert : ""; }
std::string_view byNewFormat(const ExportSettings& settings) {
    return settings.dump.format == "FBS_V2" ? kDumpFormat : "";
}
std::string_view byOldFormat(const ExportSettings& settings) {
    return settings.dump.format == "FBS" ? kDumpFormat : "";
}

/// Writes a text into the field that a visit finds.
struct FieldSetter {
    const ExportOption& option;
    std::string_view text;

    base::Error wrong(const std::string& what) const { return base::usageError(what, option.spelled()); }
    template <typename Number>
    base::Result<void> setNumber(Number* field) const {
        const std::optional<Number> value = base::parseNumber<Number>(text);
        if (!value) return wrong('\'' + std::string(text) + "' is not a number");
        const auto size = static_cast<double>(*value);
        if (!(size >= option.min && size <= option.max))
            return wrong(std::string(text) + " is not in the range [" + base::shortestText(option.min) + ", " +
                         base::shortestText(option.max) + ']');
        *field = *value;
        return {};
    }

    base::Result<void> operator()(bool* field) const {
        if (text != "true" && text != "false") return wrong('\'' + std::string(text) + "' is neither true nor false");
        *field = text == "true";
        return {};
    }
    base::Result<void> operator()(int* field) const { return setNumber(field); }
    base::Result<void> operator()(std::int64_t* field) const { return setNumber(field); }
    base::Result<void> operator()(double* field) const { return setNumber(field); }
    base::Result<void> operator()(std::string* field) const {
        *field = text;
        return {};
    }
    base::Result<void> operator()(std::vector<std::string>* field) const {
        *field = split(text, option.oneEach ? '\n' : ',', option.keepsEmpty);
        return {};
    }
};

std::vector<ExportOption> optimisationRows() {
    return {
        {.name = kOptimise,
         .group = kOptimisation,
         .label = "Optimise for inference",
         .help = "Keep the graph as it was traced",
         .details = "Folds norms into convolutions and constants into values, merges equal operations, and removes "
                    "those that do nothing",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.optimize; },
         .changesGraph = true,
         .off = "false"},
        {.name = "opt-level",
         .group = kOptimisation,
         .label = "Arithmetic",
         .help = "0: arithmetic stays as it is; 1, 2: x / x is 1, log(exp(x)) is x, log-sum-exp is stable",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.optLevel; },
         .choices = {{"0", "As it is"},
                     {"1", "Simplified, as 2"},
                     {"2", "Simplified: x / x is 1, log(exp(x)) is x, log-sum-exp is stable"}},
         .needs = kOptimise,
         .changesGraph = true,
         .off = "0"},
        {.name = "enable_fuse_grain",
         .group = kOptimisation,
         .label = "Fuse small operations",
         .help = "Sum and division become a mean",
         .details = "A sum divided by the count of its elements becomes a mean, a mean over the image a global pooling",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.fuseGrain; },
         .needs = kOptimise,
         .changesGraph = true,
         .off = "false",
         .spelling = Spelling::Inference},
        {.name = "enable_fuse_preprocess",
         .group = kOptimisation,
         .label = "Fuse preprocessing",
         .help = "Bytes become blocks of channels in one operation",
         .details = "The steps from an image of bytes to int8 in blocks of channels become one operation",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.fusePreprocess; },
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
        {.name = "weight_preprocess",
         .group = kOptimisation,
         .label = "Prepare weights",
         .help = "Weights are to be prepared when the dump is loaded",
         .details = "A request to the reader, kept in the metadata; Sonde prepares weights in any case",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.weightPreprocess; },
         .needs = kOptimise,
         .spelling = Spelling::Inference},
        {.name = "enable_fuse_conv_bias_nonlinearity",
         .group = kOptimisation,
         .label = "Fuse bias and activation",
         .help = "Convolution, bias and activation become one operation",
         .details = "A convolution with its bias and its ReLU, sigmoid or hard swish becomes one ConvBias",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.fuseConvBiasNonlinearity; },
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
        {.name = "enable_fuse_conv_bias_with_z",
         .group = kOptimisation,
         .label = "Fuse residual sums",
         .help = "The same with a sum of two values",
         .details = "The same, and the addition of a value of the same shape becomes part of the ConvBias",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.fuseConvBiasWithZ; },
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
        {.name = "pass",
         .group = kOptimisation,
         .label = "Passes",
         .help = "Change the graph before use (again for more, in order); `sonde passes` lists them",
         .details = "Ids of the passes that change the graph before it is written, in order",
         .formats = {Onnx, TracedModule},
         .field = [](ExportSettings& s) -> OptionField { return &s.passes; },
         .changesGraph = true,
         .spelling = Spelling::OfModel},
    };
}

std::vector<ExportOption> precisionRows() {
    return {
        {.name = "layout",
         .group = kPrecision,
         .label = "Layout",
         .help = "Layout of convolutions",
         .details = "Convolutions and what follows them compute on channels in blocks; outputs keep their shape",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.layout; },
         .choices = {{"", "Default: NCHW"},
                     {"nchw88", "x86 with AVX: blocks of 8 channels"},
                     {"nchw44", "ARM: blocks of 4 channels"},
                     {"nchw44_dot", "ARM with dot product: blocks of 4 channels"},
                     {"hwcd4", "Some OpenCL devices: height first, blocks of 4 channels"},
                     {"nchw4", "NVIDIA, quantised: blocks of 4 channels"},
                     {"nchw32", "NVIDIA tensor cores, quantised: blocks of 32 channels"},
                     {"chwn4", "NVIDIA tensor cores, quantised: batch inside"},
                     {"nchw64", "NVIDIA, quantised: blocks of 64 channels"}},
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
        {.name = "enable_io16xc32",
         .group = kPrecision,
         .label = "Values in float16",
         .help = "Values are float16; convolutions and sums accumulate in float32",
         .details = "Values and weights are float16; convolutions, products and sums accumulate in float32",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.io16xc32; },
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
        {.name = "enable_ioc16",
         .group = kPrecision,
         .label = "Values and arithmetic in float16",
         .help = "Values and arithmetic are float16",
         .details = "Values and weights are float16, and so are intermediate results",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inference.ioc16; },
         .needs = kOptimise,
         .changesGraph = true,
         .spelling = Spelling::Inference},
    };
}

std::vector<ExportOption> nameRows() {
    return {
        {.name = "arg-names",
         .group = kNames,
         .label = "Inputs",
         .help = "Names of the inputs, in order; an input without one (a,,c) keeps its own",
         .details = "Names of the inputs, in order, with commas between them; empty: arg_0, arg_1 …; an input without "
                    "one (a,,c) keeps its own",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.argNames; },
         .keepsEmpty = true,
         .ofModel = true},
        {.name = "output-names",
         .group = kNames,
         .label = "Outputs",
         .help = "Names of the outputs, in order",
         .details = "Names of the outputs, in order, with commas between them; empty: those of the operators (ADD)",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.outputNames; },
         .ofModel = true},
        {.name = "keep-var-name",
         .group = kNames,
         .label = "Values",
         .help = "0: no names; 1, 2: all",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.keepVarName; },
         .choices = {{"0", "No names: outputs are unnamed0 …"}, {"1", "All names"}, {"2", "All names, as 1"}}},
        {.name = "keep-opr-name",
         .group = kNames,
         .label = "Keep names of operations",
         .help = "Keep the names of operations",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.names.operations; }},
        {.name = "keep-param-name",
         .group = kNames,
         .label = "Keep names of weights",
         .help = "Keep the names of weights",
         .details = "Keep the names of weights, so that their values can be replaced after loading",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.names.parameters; }},
        {.name = "keep-opr-priority",
         .group = kNames,
         .label = "Keep priorities of operations",
         .help = "Keep the priorities of operations, which are their numbers in the order of execution",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.names.priorities; }},
        {.name = "modules",
         .group = kNames,
         .label = "Keep modules",
         .help = "Do not write the names and classes of the modules",
         .details = "Keep names and classes of the modules as metadata of the nodes, as torch's exporter does",
         .formats = {Onnx},
         .field = [](ExportSettings& s) -> OptionField { return &s.onnx.keepModules; }},
    };
}

std::vector<ExportOption> caseRows() {
    return {
        {.name = kInputData,
         .group = kCases,
         .label = "Input data",
         .help = "A test case: input data as for run, or @FILE with one case per line (again for more)",
         .details =
             "Test cases in the file, one in each line: \"x:photo.png\", \"x:#rand(0,1);y:[1, 2]\", or @FILE with such lines",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.inputData; },
         .oneEach = true,
         .ofModel = true},
        {.name = "repeat",
         .group = kCases,
         .label = "Repeat each sample",
         .help = "Repeat each sample of file data N times along axis 0",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.input.repeat; },
         .min = 1,
         .max = std::numeric_limits<int>::max(),
         .needs = kInputData},
        {.name = "silent",
         .group = kCases,
         .label = "Silent checks",
         .help = "Checks do not print their errors",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.silent; },
         .needs = kInputData,
         .overruled = byNoAssert},
        {.name = kNoAssert,
         .group = kCases,
         .label = "No expected values",
         .help = "Test cases without expected values",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.noAssert; },
         .needs = kInputData},
        {.name = "maxerr",
         .group = kCases,
         .label = "Maximum error",
         .help = "Maximum error that the test cases allow",
         .details = "Maximum error |e − g| / max(min(|e|, |g|), 1) that the test cases allow; about 0.01 for float16",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.maxError; },
         .needs = kInputData,
         .overruled = byNoAssert},
        {.name = "input-transform",
         .group = kCases,
         .label = "Transform",
         .help = "Expression in `data` that is applied to file data: \"data / np.std(data)\"",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.inputTransform; },
         .needs = kInputData,
         .ofModel = true},
        {.name = "resize-input",
         .group = kCases,
         .label = "Resize images",
         .help = "Resize images to the input's height and width",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.resizeInput; },
         .needs = kInputData},
    };
}

std::vector<ExportOption> metadataRows() {
    return {
        {.name = "metadata",
         .group = kMetadata,
         .label = "Keep metadata",
         .help = "Keep no metadata",
         .details = "Keep the user info, and which options the graph was optimised with",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.metadata; },
         .reference = "enable_metadata"},
        {.name = "user-info",
         .group = kMetadata,
         .label = "User info",
         .help = "Text to keep in the metadata, such as a JSON object",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.userInfo; },
         .needs = "metadata",
         .ofModel = true},
        {.name = "user-info-file",
         .group = kMetadata,
         .label = "User info from a file",
         .help = "File whose bytes are kept in the metadata instead of a text",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.userInfoFile; },
         .needs = "metadata",
         .ofModel = true},
    };
}

std::vector<ExportOption> fileRows() {
    return {
        {.name = "append",
         .group = kFile,
         .label = "Append",
         .help = "Append to the file",
         .details = "Append the graph to what the file holds, instead of replacing it",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.append; },
         .ofModel = true},
        {.name = "strip-info-file",
         .group = kFile,
         .label = "List of operators",
         .help = "Write a JSON file of the used operators, dtypes and elementwise modes",
         .details = "JSON file of the used operators, dtypes and elementwise modes: what a small runtime must have",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.stripInfoFile; },
         .ofModel = true},
        {.name = "append-json",
         .group = kFile,
         .label = "Add to that list",
         .help = "Add to the lists in that file instead of replacing them",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.appendJson; },
         .ofModel = true},
        {.name = kDumpFormat,
         .group = kFile,
         .label = "Format",
         .help = "FBS_V2, or FBS, whose readers know no ConvBias",
         .details = "Format of the graph; in FBS a ConvBias is written as convolution, sum and activation",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.format; },
         .choices = {{"FBS_V2", "Version 2"}, {"FBS", "Version 1, whose readers know no ConvBias"}}},
        {.name = "no-change-graph",
         .group = kFile,
         .label = "Do not change the graph",
         .help = "Write every operation as it is, whether readers of the format know it or not",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.noChangeGraph; },
         .overruled = byNewFormat},
        {.name = "compat-older-version",
         .group = kFile,
         .label = "For readers of version",
         .help = "8.14: meant for readers of that version (of FBS whose graph may change); kept in the metadata",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.compatOlderVersion; },
         .choices = {{"", "Any"}, {"8.14", "8.14"}}},
        {.name = "model-version",
         .group = kFile,
         .label = "Version",
         .help = "Version of FBS_V2; has no effect on FBS",
         .formats = {Dump},
         .field = [](ExportSettings& s) -> OptionField { return &s.dump.modelVersion; },
         .max = std::numeric_limits<int>::max(),
         .overruled = byOldFormat},
        {.name = "ir-version",
         .group = kFile,
         .label = "IR version",
         .help = "IR version of the file; element types may raise it",
         .details = "IR version of the file: older runtimes require an older one; element types may raise it",
         .formats = {Onnx},
         .field = [](ExportSettings& s) -> OptionField { return &s.onnx.irVersion; },
         .min = 8,  // the first for opset 18
         .max = 13},
        {.name = "inline-limit",
         .group = kFile,
         .label = "Weights in the file, bytes",
         .help = "Weights of more bytes in all are written to FILE.data; 0: always",
         .formats = {Onnx},
         .field = [](ExportSettings& s) -> OptionField { return &s.onnx.inlineLimitBytes; },
         .max = double(std::int64_t{2} << 30)},
    };
}

}  // namespace

const std::vector<ExportFormatInfo>& exportFormats() {
    static const std::vector<ExportFormatInfo> formats{
        {Dump, "dump", "Static graph (dump)", "dump",
         "One graph with fixed operators, for inference; may hold test cases with expected values"},
        {Onnx, "onnx", "ONNX", "onnx", "ONNX operators, for other runtimes"},
        {TracedModule, "traced-module", "Traced module", "sondetm",
         "The modules with their graphs and parameters; opens in Sonde and can be traced again"},
    };
    return formats;
}

const ExportFormatInfo& infoOf(ExportFormat format) {
    return *std::ranges::find(exportFormats(), format, &ExportFormatInfo::format);
}

const std::vector<ExportOption>& exportOptions() {
    static const std::vector<ExportOption> options = [] {
        std::vector<ExportOption> all;
        for (auto* rows : {optimisationRows, precisionRows, nameRows, caseRows, metadataRows, fileRows}) {
            std::vector<ExportOption> group = rows();
            std::ranges::move(group, std::back_inserter(all));
        }
        return all;
    }();
    return options;
}

const ExportOption* findExportOption(std::string_view name) {
    const auto found = std::ranges::find(exportOptions(), name, &ExportOption::name);
    return found == exportOptions().end() ? nullptr : &*found;
}

bool ExportOption::isFor(ExportFormat format) const { return std::ranges::find(formats, format) != formats.end(); }

bool ExportOption::isSwitch() const {
    ExportSettings settings;
    return std::holds_alternative<bool*>(field(settings));
}

bool ExportOption::isList() const {
    ExportSettings settings;
    return std::holds_alternative<std::vector<std::string>*>(field(settings));
}

bool ExportOption::isNumber() const {
    ExportSettings settings;
    const OptionField of = field(settings);
    return std::holds_alternative<int*>(of) || std::holds_alternative<std::int64_t*>(of) ||
           std::holds_alternative<double*>(of);
}

std::string ExportOption::defaultText() const { return text(ExportSettings()); }

std::string ExportOption::text(const ExportSettings& settings) const {
    struct {
        char separator;
        std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
        std::string operator()(const int* value) const { return std::to_string(*value); }
        std::string operator()(const std::int64_t* value) const { return std::to_string(*value); }
        std::string operator()(const double* value) const { return base::shortestText(*value); }
        std::string operator()(const std::string* value) const { return *value; }
        std::string operator()(const std::vector<std::string>* value) const { return joined(*value, separator); }
    } const toText{oneEach ? '\n' : ','};
    // The field is only read.
    return std::visit(toText, field(const_cast<ExportSettings&>(settings)));
}

base::Result<void> ExportOption::set(ExportSettings& settings, std::string_view text) const {
    if (!choices.empty() && std::ranges::find(choices, text, &OptionChoice::value) == choices.end()) {
        std::string values;
        for (const OptionChoice& choice : choices)
            values += (values.empty() ? "" : ", ") + (choice.value.empty() ? "''" : std::string(choice.value));
        return base::usageError('\'' + std::string(text) + "' is not one of " + values, spelled());
    }
    return std::visit(FieldSetter{*this, text}, field(settings));
}

std::string ExportOption::offText() const { return off.empty() ? defaultText() : std::string(off); }

std::string ExportOption::whyNoEffect(const ExportSettings& settings) const {
    if (!needs.empty()) {
        const ExportOption* other = findExportOption(needs);
        assert(other);
        const std::string value = other->text(settings);
        if (other->isList() ? value.empty() : value != "true")
            return (other->isSwitch() ? "with " : "without ") + other->spelled();
    }
    const std::string_view by = overruled ? overruled(settings) : std::string_view();
    if (by.empty()) return {};
    const ExportOption* other = findExportOption(by);
    assert(other);
    return "with " + other->spelled() + (other->isSwitch() ? "" : ' ' + other->text(settings));
}

std::string ExportOption::spelled() const {
    switch (spelling) {
        case Spelling::Inference:
            return "--option " + (choices.empty() ? std::string(name) : "enable_" + base::upperCase(name));
        case Spelling::OfModel:
        case Spelling::Own: break;
    }
    return (isSwitch() && defaultText() == "true" ? "--no-" : "--") + std::string(name);
}

base::Result<std::vector<std::string>> setInferenceOptions(ExportSettings& settings,
                                                           std::span<const std::string> options) {
    std::vector<std::string> warnings;
    for (const std::string& option : options) {
        const std::size_t equals = option.find('=');
        const std::string value = equals == std::string::npos ? "true" : option.substr(equals + 1);
        if (value != "true" && value != "false")
            return base::usageError("'" + option + "' is neither true nor false", "--option");
        const auto set = settings.dump.inference.set(option.substr(0, equals), value == "true");
        if (!set && settings.dump.optimize) return set.error();
        if (!set) warnings.push_back(set.error().what);
    }
    return warnings;
}

}  // namespace sonde::exporting
