#include "app/verbs/export_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "core/export/write_export.h"
#include "core/session/export_preview.h"

namespace sonde::app {

namespace {

using exporting::ExportOption;
using exporting::ExportSettings;

/// Refuses while the command line is parsed.
void set(const ExportOption& option, ExportSettings& settings, const std::string& text) {
    if (const auto done = option.set(settings, text); !done)
        throw CLI::ValidationError(option.spelled(), done.error().what);
}

/// As bothSpellings(), behind "--no-".
std::string negatedSpellings(std::string_view name) { return bothSpellings("no-" + std::string(name)); }

/// --NAME, or of one that is on by default --no-NAME and --NAME. Each takes =true and =false too.
void addSwitch(CLI::App& command, const ExportOption& option, ExportSettings& settings,
               std::vector<const ExportOption*>& given) {
    const bool isOn = option.defaultText() == "true";
    const auto take = [&option, &settings, &given, isOn](bool value) {
        if (value != isOn) given.push_back(&option);
        set(option, settings, value ? "true" : "false");
    };
    // "=false" counts as minus one.
    CLI::Option* const added = command.add_flag_function(
        isOn ? negatedSpellings(option.name) : bothSpellings(option.name),
        [take, isOn](std::int64_t count) { take((count > 0) != isOn); }, std::string(option.help));
    if (!isOn) return;
    command
        .add_flag_function(
            bothSpellings(option.reference.empty() ? option.name : option.reference),
            [take](std::int64_t count) { take(count > 0); }, std::string(option.label) + " (the default)")
        ->excludes(added);
}

/// `given`: the options that are on the command line, other than with their default.
void addOwn(CLI::App& command, const ExportOption& option, ExportSettings& settings,
            std::vector<const ExportOption*>& given) {
    const std::string help(option.help);
    if (option.isSwitch()) return addSwitch(command, option, settings, given);
    if (option.isList()) {
        CLI::Option* added = command.add_option_function<std::vector<std::string>>(
            bothSpellings(option.name),
            [&option, &settings, &given](const std::vector<std::string>& items) {
                given.push_back(&option);
                std::string text;
                for (const std::string& item : items) {
                    if (item.empty() && option.oneEach)
                        throw CLI::ValidationError(option.spelled(), "an empty text is no item of the list");
                    if (&item != &items.front()) text += option.oneEach ? '\n' : ',';
                    text += item;
                }
                set(option, settings, text);
            },
            help);
        if (option.oneEach) added->allow_extra_args(false);  // else [1,2] would be two
        else if (!option.keepsEmpty) added->delimiter(',');  // which drops empty ones
        return;
    }
    CLI::Option* added = command.add_option_function<std::string>(
        bothSpellings(option.name),
        [&option, &settings, &given](const std::string& text) {
            given.push_back(&option);
            set(option, settings, text);
        },
        help);
    if (option.isNumber()) added->default_str(option.defaultText());
}

/// "enable_fuse_grain, enable_io16xc32 …; layouts enable_nchw88 …": what --option takes in a format.
std::string inferenceHelp(exporting::ExportFormat format) {
    std::string switches, layouts;
    for (const ExportOption& option : exporting::exportOptions()) {
        if (!option.isFor(format) || option.spelling != exporting::Spelling::Inference) continue;
        for (const exporting::OptionChoice& choice : option.choices)
            if (!choice.value.empty()) layouts += (layouts.empty() ? "" : ", ") + std::string(choice.value);
        if (option.choices.empty()) switches += (switches.empty() ? "" : ", ") + std::string(option.name);
    }
    return "Option of the optimisation, NAME or NAME=false: " + switches + ", or a layout, enable_LAYOUT: " + layouts;
}

}  // namespace

void ExportArguments::addTo(CLI::App& command) {
    auto* preview = command.add_flag("--preview", isPreview,
                                     "Write no file, but print what the options change, one more in each line: "
                                     "operations, bytes, largest error and time of a run");
    command.add_flag("--json", isPreviewJson, "With --preview: one JSON object instead of the table")->needs(preview);
    if (CLI::Option* output = command.get_option_no_throw("-o")) output->excludes(preview);
    for (const ExportOption& option : exporting::exportOptions()) {
        if (!option.isFor(choice.format)) continue;
        if (option.spelling == exporting::Spelling::Own) addOwn(command, option, choice.settings, m_given);
        else if (option.spelling == exporting::Spelling::Inference) addInference(command, option);
    }
}

/// As --option NAME, which is added with the first of them, and as MegEngine's keyword.
void ExportArguments::addInference(CLI::App& command, const ExportOption& option) {
    if (!command.get_option_no_throw("--option"))
        command.add_option("--option", m_inference, inferenceHelp(choice.format));
    const auto add = [&](const std::string& name, std::string_view help) {
        command.add_flag_function(
            bothSpellings(name),
            [this, name](std::int64_t count) { m_switches.push_back(name + (count > 0 ? "" : "=false")); },
            std::string(help));
    };
    if (option.choices.empty()) add(std::string(option.name), option.help);
    for (const exporting::OptionChoice& layout : option.choices)
        if (!layout.value.empty()) add("enable_" + std::string(layout.value), layout.help);
}

base::Result<void> ExportArguments::finish() {
    std::vector<std::string> inference = m_inference;
    inference.insert(inference.end(), m_switches.begin(), m_switches.end());
    SONDE_ASSIGN(const auto warnings, exporting::setInferenceOptions(choice.settings, inference));
    for (const std::string& warning : warnings) printWarning(warning);
    std::vector<const ExportOption*> given = m_given;
    for (const ExportOption& option : exporting::exportOptions())
        if (option.spelling == exporting::Spelling::Inference && option.isFor(choice.format) &&
            option.text(choice.settings) != option.defaultText())
            given.push_back(&option);
    for (const ExportOption* option : given) {
        const std::string why = option->whyNoEffect(choice.settings);
        if (why.empty()) continue;
        std::string spelled = option->spelled();
        if (option->spelling == exporting::Spelling::Inference) {
            const std::string name =
                option->choices.empty() ? std::string(option->name) : "enable_" + option->text(choice.settings);
            spelled = (std::ranges::find(m_switches, name) == m_switches.end() ? "--option " : "--") + name;
        }
        printWarning(spelled + " has no effect " + why);
    }
    return {};
}

void ExportArguments::tellUnused(std::string_view except, const std::string& why) const {
    const auto tell = [&](const std::string& name) { printWarning(name + " has no effect " + why); };
    for (const ExportOption* option : m_given)
        if (option->name != except) tell(option->spelled());
    if (!m_inference.empty()) tell("--option");
    for (const std::string& name : m_switches) tell("--" + name);
    if (isPreview) tell("--preview");
}

base::Result<int> ExportArguments::printPreview(const std::shared_ptr<const document::Document>& document,
                                                const std::vector<tensor::Value>& inputs) const {
    SONDE_TRY(exporting::checkExport(*document, choice.format));
    const auto forms = exporting::exportForms(document, choice, inputs);
    SONDE_ASSIGN(const session::ExportPreview preview,
                 session::previewExport(*document, inputs, forms, 0, commandLineWork()));
    for (const base::Diagnostic& note : preview.forms.back().notes) printWarning(note.what, note.where);
    fmt::print("{}", isPreviewJson ? preview.json() : preview.text());
    const auto& last = preview.forms.back().error;
    return last ? base::Result<int>(*last) : base::Result<int>(0);
}

}  // namespace sonde::app
