#include "core/export/export_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/number_text.h"

namespace sonde::exporting {

namespace {

using enum ExportFormat;
using Json = nlohmann::ordered_json;

std::vector<std::string> itemsOf(const ExportOption& option, const ExportSettings& settings) {
    // The field is only read.
    return *std::get<std::vector<std::string>*>(option.field(const_cast<ExportSettings&>(settings)));
}

Json jsonValue(const ExportOption& option, const ExportSettings& settings) {
    if (option.isList()) return itemsOf(option, settings);
    const std::string text = option.text(settings);
    if (option.isSwitch()) return text == "true";
    if (option.isNumber()) return Json::parse(text);
    return text;
}

/// Numbers keep their digits: what is parsed as a double may have been an integer.
base::Result<std::string> textOf(const ExportOption& option, const Json& value) {
    const auto wrong = [&option](const char* what) {
        return base::usageError(std::string("the value is not ") + what, "option " + std::string(option.name));
    };
    if (option.isList()) {
        if (!value.is_array()) return wrong("a list of texts");
        std::string text;
        for (const Json& item : value) {
            if (!item.is_string()) return wrong("a list of texts");
            const auto each = item.get<std::string>();
            const char separator = option.oneEach ? '\n' : ',';
            if (each.find(separator) != std::string::npos) return wrong("a list of texts of one line without commas");
            text += (text.empty() ? "" : std::string(1, separator)) + each;
        }
        return text;
    }
    if (option.isSwitch()) return value.is_boolean() ? base::Result<std::string>(value.dump()) : wrong("true or false");
    if (option.isNumber()) return value.is_number() ? base::Result<std::string>(value.dump()) : wrong("a number");
    return value.is_string() ? base::Result<std::string>(value.get<std::string>()) : wrong("a text");
}

std::string_view verbOf(ExportFormat format) {
    switch (format) {
        case Onnx: return "save";
        case TracedModule: return "trace";
        case Dump: break;
    }
    return "dump";
}

std::string quoted(const std::string& argument) {
    static constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) return argument;
    std::string text = "'";
    for (const char each : argument) each == '\'' ? text += "'\\''" : text += each;
    return text + '\'';
}

/// Options that a preset of the format sets.
bool isPreset(const ExportOption& option, ExportFormat format) {
    if (option.changesGraph) return true;
    return std::ranges::any_of(exportPresets(), [&](const ExportPreset& preset) {
        return preset.format == format &&
               std::ranges::any_of(preset.values, [&option](const auto& value) { return value.first == option.name; });
    });
}

constexpr std::string_view kOptionWord = "option=", kEnable = "enable_", kNo = "no-";

/// The option with a value that --option names "enable_VALUE"; null if there is none.
const ExportOption* optionOfValue(ExportFormat format, std::string_view name) {
    if (!name.starts_with(kEnable) || name.size() == kEnable.size()) return nullptr;
    for (const ExportOption& option : exportOptions()) {
        if (!option.isFor(format) || option.spelling != Spelling::Inference) continue;
        if (std::ranges::find(option.choices, name.substr(kEnable.size()), &OptionChoice::value) !=
            option.choices.end())
            return &option;
    }
    return nullptr;
}

std::string labelOf(const ExportOption& option, const ExportSettings& settings) {
    std::string label(option.label);
    const std::string value = option.text(settings);
    if (!option.isSwitch()) return label + ": " + value;
    return value == "true" ? label : "Not: " + label;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ExportChoice::changed() const {
    std::vector<std::pair<std::string, std::string>> values;
    for (const ExportOption& option : exportOptions()) {
        std::string text = option.text(settings);
        if (option.isFor(format) && text != option.defaultText())
            values.emplace_back(std::string(option.name), std::move(text));
    }
    return values;
}

base::Result<void> ExportChoice::set(std::string_view name, std::string_view text) {
    const ExportOption* option = findExportOption(name);
    if (!option || !option->isFor(format)) {
        std::string names;
        for (const ExportOption& each : exportOptions())
            if (each.isFor(format)) names += (names.empty() ? "" : ", ") + std::string(each.name);
        return base::usageError(std::string(infoOf(format).name) + " has no option '" + std::string(name) + '\'', {},
                                "it has " + names);
    }
    return option->set(settings, text);
}

base::Result<void> ExportChoice::setSpelled(std::string_view word) {
    if (word.starts_with("--")) word.remove_prefix(2);
    if (word.starts_with(kOptionWord)) word.remove_prefix(kOptionWord.size());
    const std::size_t equals = std::min(word.find('='), word.size());
    const bool hasValue = equals < word.size();
    const std::string_view name = word.substr(0, equals), value = hasValue ? word.substr(equals + 1) : "true";
    if (const ExportOption* const layout = optionOfValue(format, name)) {
        if (value != "true" && value != "false")
            return base::usageError("'" + std::string(word) + "' is neither true nor false", layout->spelled());
        const std::string_view chosen = name.substr(kEnable.size());
        if (value == "true") return set(layout->name, chosen);
        return layout->text(settings) == chosen ? set(layout->name, {}) : base::Result<void>();
    }
    if (hasValue) return set(name, value);
    const bool isDenied = name.starts_with(kNo) && !findExportOption(name);
    const ExportOption* const option = findExportOption(isDenied ? name.substr(kNo.size()) : name);
    if (!option || !option->isFor(format)) return set(name, {});  // says what there is
    if (option->isSwitch()) return set(option->name, isDenied ? "false" : "true");
    return base::usageError("the option needs a value", std::string(name), std::string(name) + "=VALUE");
}

bool operator==(const ExportChoice& a, const ExportChoice& b) {
    return a.format == b.format && a.changed() == b.changed();
}

std::string toJson(const ExportChoice& choice) {
    Json options = Json::object();
    for (const auto& [name, text] : choice.changed())
        options[name] = jsonValue(*findExportOption(name), choice.settings);
    return Json{{"format", infoOf(choice.format).id}, {"options", options}}.dump(-1, ' ', false,
                                                                                 Json::error_handler_t::replace);
}

base::Result<ExportChoice> exportChoiceFrom(std::string_view json) {
    const Json read = Json::parse(json, nullptr, false);
    if (!read.is_object() || !read.contains("format") || !read["format"].is_string())
        return base::usageError("not an object with the key 'format'", "export options");
    for (const auto& [key, value] : read.items())
        if (key != "format" && key != "options")
            return base::usageError("unknown key '" + key + '\'', "export options");
    const auto id = read["format"].get<std::string>();
    const auto info = std::ranges::find(exportFormats(), id, &ExportFormatInfo::id);
    if (info == exportFormats().end())
        return base::usageError("there is no format '" + id + '\'', "export options", "dump, onnx or traced-module");
    ExportChoice choice{info->format, {}};
    if (!read.contains("options")) return choice;
    if (!read["options"].is_object()) return base::usageError("'options' is not an object", "export options");
    for (const auto& [name, value] : read["options"].items()) {
        std::string text;
        if (const ExportOption* option = findExportOption(name); option && option->isFor(choice.format)) {
            SONDE_ASSIGN(text, textOf(*option, value));
        }
        SONDE_TRY(choice.set(name, text));
    }
    return choice;
}

std::vector<std::string> argumentsOf(const ExportChoice& choice) {
    std::vector<std::string> arguments;
    for (const auto& [name, text] : choice.changed()) {
        const ExportOption& option = *findExportOption(name);
        if (option.spelling == Spelling::Inference) {
            arguments.emplace_back("--option");
            arguments.push_back(!option.choices.empty() ? "enable_" + text : text == "true" ? name : name + "=false");
        } else if (option.isSwitch()) {
            arguments.push_back(option.spelled());
        } else if (option.isList() && (option.oneEach || option.spelling == Spelling::OfModel)) {
            for (const std::string& item : itemsOf(option, choice.settings)) {
                arguments.push_back(option.spelled());
                arguments.push_back(item);
            }
        } else {
            arguments.push_back(option.spelled());
            arguments.push_back(text);
        }
    }
    return arguments;
}

std::string commandLineOf(const ExportChoice& choice, const std::string& model, const std::string& path,
                          const std::string& inputData, const document::OpenOptions& options) {
    std::vector<std::string> words{"sonde", std::string(verbOf(choice.format)), model};
    const auto add = [&words](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--tracer", choice.format == TracedModule ? "traced-module" : options.tracer);
    for (const std::string& leaf : options.leaves) add("--leaf", leaf);
    for (const auto& [name, value] : options.concrete) add("--concrete", name + '=' + value);
    add("--weights", options.weights);
    if (options.flatten) words.emplace_back("--flatten");
    for (const std::string& pass : options.passes) add("--pass", pass);
    add(choice.format == TracedModule ? "--save" : "-o", path);
    if (choice.format != Dump) add("--input-data", inputData);
    else add("--example", options.inputData);
    const std::vector<std::string> arguments = argumentsOf(choice);
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

const std::vector<ExportPreset>& exportPresets() {
    static const std::vector<ExportPreset> presets{
        {"optimised", "Optimised for inference", "Norms, constants and operations without effect are folded", Dump, {}},
        {"as-it-is", "As traced", "The graph as it is", Dump, {{"optimize-for-inference", "false"}}},
        {"fused",
         "Fused convolutions",
         "Convolution, bias, sum and activation are one operation",
         Dump,
         {{"enable_fuse_conv_bias_nonlinearity", "true"}, {"enable_fuse_conv_bias_with_z", "true"}}},
        {"half",
         "Half precision in and out",
         "Values and weights are float16, sums are computed in float32; test cases allow an error of 0.01",
         Dump,
         {{"enable_io16xc32", "true"}, {"maxerr", "0.01"}}},
        {"half-arithmetic",
         "Half precision throughout",
         "Values, weights and arithmetic are float16; test cases allow an error of 0.01",
         Dump,
         {{"enable_ioc16", "true"}, {"maxerr", "0.01"}}},
        {"packed-x86",
         "Packed for x86 (NCHW88)",
         "Channels in blocks of 8, for AVX",
         Dump,
         {{"layout", "nchw88"}, {"enable_fuse_conv_bias_nonlinearity", "true"}}},
        {"packed-arm",
         "Packed for ARM (NCHW44)",
         "Channels in blocks of 4",
         Dump,
         {{"layout", "nchw44"}, {"enable_fuse_conv_bias_nonlinearity", "true"}}},
        {"as-it-is", "As it is", "Every operation in ONNX operators", Onnx, {}},
        {"optimised",
         "Optimised for inference",
         "Norms, constants and operations without effect are folded",
         Onnx,
         {{"pass", "fuse-conv-bn,remove-identity,fold-constant,merge-duplicates,remove-dead-code"}}},
        {"older", "For older runtimes", "The oldest IR version that the operators allow", Onnx, {{"ir-version", "8"}}},
        {"as-it-is", "As traced", "The modules with their graphs as they are", TracedModule, {}},
        {"optimised",
         "Fused norms",
         "Batch norms become part of the convolutions before them; the hierarchy stays",
         TracedModule,
         {{"pass", "fuse-conv-bn"}}},
    };
    return presets;
}

const ExportPreset* findExportPreset(ExportFormat format, std::string_view id) {
    const auto found = std::ranges::find_if(
        exportPresets(), [&](const ExportPreset& preset) { return preset.format == format && preset.id == id; });
    return found == exportPresets().end() ? nullptr : &*found;
}

std::string exportPresetIds(ExportFormat format) {
    std::string ids;
    for (const ExportPreset& preset : exportPresets())
        if (preset.format == format) ids += (ids.empty() ? "" : ", ") + std::string(preset.id);
    return ids;
}

ExportChoice withPreset(ExportChoice choice, const ExportPreset& preset) {
    choice.format = preset.format;
    for (const ExportOption& option : exportOptions()) {
        if (!option.isFor(preset.format) || !isPreset(option, preset.format)) continue;
        const auto value =
            std::ranges::find(preset.values, option.name, &std::pair<std::string_view, std::string_view>::first);
        // Values of the table are valid, which a test checks.
        (void)option.set(choice.settings,
                         value == preset.values.end() ? option.defaultText() : std::string(value->second));
    }
    return choice;
}

const ExportPreset* presetOf(const ExportChoice& choice) {
    for (const ExportPreset& preset : exportPresets())
        if (preset.format == choice.format && withPreset(choice, preset) == choice) return &preset;
    return nullptr;
}

std::vector<ExportStep> exportSteps(const ExportChoice& choice) {
    ExportStep step{"As it is", choice};
    std::vector<const ExportOption*> changes;
    for (const ExportOption& option : exportOptions()) {
        if (!option.isFor(choice.format) || !option.changesGraph) continue;
        const std::string off = option.offText();
        if (option.hasEffect(choice.settings) && option.text(choice.settings) != off) changes.push_back(&option);
        (void)option.set(step.choice.settings, off);
    }
    std::vector<ExportStep> steps{step};
    for (const ExportOption* option : changes) {
        (void)option->set(step.choice.settings, option->text(choice.settings));
        step.label = labelOf(*option, choice.settings);
        steps.push_back(step);
    }
    // What has no effect is part of the choice, too.
    steps.back().choice = choice;
    return steps;
}

}  // namespace sonde::exporting
