#include "app/verbs/output_forms.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verbs/inputs.h"
#include "core/base/visible_text.h"
#include "core/session/output_request.h"
#include "core/session/outputs/class_labels.h"

namespace sonde::app {

namespace outputs = session::outputs;
using outputs::Choice;

namespace {

bool hasNames(const outputs::ShownOutput& shown) {
    const auto named = [](const auto& items) {
        return std::ranges::any_of(items, [](const auto& item) { return !item.name.empty(); });
    };
    if (const auto* classes = std::get_if<outputs::Classes>(&shown.content)) return named(classes->top);
    if (const auto* boxes = std::get_if<outputs::Boxes>(&shown.content)) return named(boxes->boxes);
    if (const auto* masks = std::get_if<outputs::Masks>(&shown.content)) return named(masks->parts);
    return false;
}

/// Boxes and masks have what classes they have: none of them may be in the picture.
bool mayLackNames(const outputs::ShownOutput& shown) {
    return shown.isRandom || std::holds_alternative<outputs::Boxes>(shown.content) ||
           std::holds_alternative<outputs::Masks>(shown.content);
}

}  // namespace

void OutputForms::addTo(CLI::App& command) {
    command
        .add_option(
            "--show", shows,
            "Show outputs as what they are: [OUTPUT=]FORM[:OPTION,...], FORM auto (what suits best), classes, text, "
            "image, boxes, masks, waveform, scalar or table: \"classes:top=3\", \"boxes:cxcywh,score=4\" (again for "
            "more)")
        ->allow_extra_args(false);
    command.add_option("--labels", labels, "File with the name of each class, a line each or JSON; shows outputs");
    command.add_option("--vocabulary", vocabulary,
                       "File with the tokens of a model of text: a line each, or tokenizer.json; shows outputs");
}

base::Result<void> OutputForms::check() const {
    for (const std::string& text : shows) SONDE_TRY(outputs::parseChoice(text));
    if (!labels.empty()) SONDE_TRY(outputs::readLabels(labels));
    if (!vocabulary.empty()) SONDE_TRY(outputs::OutputTokens::read(vocabulary));
    return {};
}

base::Result<std::vector<Choice>> OutputForms::choicesFor(
    const document::Document& document, const std::vector<std::pair<std::string, graph::NodeId>>& names) const {
    outputs::SessionChoices stored = outputs::sessionChoices(document);
    for (const base::Error& error : stored.refused) printWarning(error.what, error.where);
    std::vector<Choice> choices = std::move(stored.choices);
    const auto of = [&choices](const std::string& name) -> Choice& {
        const auto found = std::ranges::find(choices, name, &Choice::output);
        if (found != choices.end()) return *found;
        choices.push_back(Choice{name});
        return choices.back();
    };
    for (const std::string& text : shows) {
        SONDE_ASSIGN(const Choice given, outputs::parseChoice(text));
        bool isThere = false;
        for (const auto& [name, node] : names) {
            if (!given.output.empty() && given.output != name) continue;
            isThere = true;
            Choice& choice = of(name);
            const Choice before = choice;
            // "auto": as the session file has it, else what suits best.
            if (given.isDefault()) continue;
            choice = given;
            if (given.form.empty()) choice.form = before.form;
            choice.output = name;
            choice.labels = before.labels;
            choice.vocabulary = before.vocabulary;
        }
        if (isThere) continue;
        std::string all;
        for (const auto& [name, node] : names) all += (all.empty() ? "" : ", ") + name;
        return base::usageError("there is no output '" + given.output + "'", "--show", "outputs are " + all);
    }
    for (const auto& [name, node] : names) {
        if (!labels.empty()) of(name).labels = labels;
        if (!vocabulary.empty()) of(name).vocabulary = vocabulary;
    }
    return choices;
}

base::Result<void> OutputForms::print(const session::Session& session) const {
    outputs::ShowRequest request = outputs::showRequest(session, {});
    SONDE_ASSIGN(request.choices, choicesFor(*request.document, request.names));
    SONDE_ASSIGN(const outputs::ShownOutputs shown, outputs::showOutputs(request, commandLineWork()));
    bool hasNamed = labels.empty();
    for (const outputs::ShownOutput& output : shown.outputs) {
        fmt::print("{}  {}{}\n", base::visibleText(output.name), base::visibleText(output.type),
                   output.error ? "" : fmt::format("  {}", output.form->id));
        for (const std::string& line : outputs::textLines(output)) fmt::print("  {}\n", line);
        hasNamed = hasNamed || hasNames(output) || mayLackNames(output);
    }
    if (!hasNamed) {
        SONDE_ASSIGN(const auto names, outputs::readLabels(labels));
        return base::usageError(
            "the labels file has " + std::to_string(names.size()) + " names, but no output has so many classes",
            labels);
    }
    return {};
}

}  // namespace sonde::app
