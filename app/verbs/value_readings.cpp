#include "app/verbs/value_readings.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <utility>

#include "app/interrupt.h"
#include "core/analysis/element_readings.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/recording.h"
#include "core/session/value_readings/value_readings.h"

namespace sonde::app {

namespace {

/// NODE and READING; a name of a node may have an = of its own.
base::Result<std::pair<graph::NodeId, std::string>> parse(const document::Document& document, const std::string& text) {
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
        return base::usageError("'" + text + "' is no NODE=READING", "--read", "write encoder_softmax=attention");
    SONDE_ASSIGN(const graph::NodeId node, document.findNode(text.substr(0, at)));
    return std::pair(node, text.substr(at + 1));
}

/// Samples per second of an input that was read from a recording; else 0.
int rateOf(const session::Session& session, graph::NodeId node) {
    const session::Input* const input = session.inputs().of(node);
    if (!input || !io::isRecordingItem(input->spec.source)) return 0;
    const auto rate = io::recordingRate(input->spec.source);
    return rate ? *rate : 0;
}

}  // namespace

void ValueReadingChoice::addTo(CLI::App& command) {
    std::string words;
    for (const session::ValueReading& reading : session::valueReadings())
        words += fmt::format("{} ({}), ", reading.id, reading.description);
    for (const analysis::ElementReading& reading : analysis::elementReadings())
        words += fmt::format("{}{}", reading.id, &reading == &analysis::elementReadings().back() ? "" : ", ");
    command
        .add_option(
            "--read", reads,
            "Print a value as the views of the window show it: NODE=READING, READING " + words + " (again for more)")
        ->allow_extra_args(false);
}

base::Result<void> ValueReadingChoice::watch(session::Session& session) const {
    for (const std::string& text : reads) {
        SONDE_ASSIGN(const auto read, parse(*session.document(), text));
        session.setWatched(read.first, true);
    }
    return {};
}

base::Result<void> ValueReadingChoice::print(const session::Session& session, const std::string& vocabulary) const {
    if (reads.empty()) return {};
    const session::TokenNames tokens = session::findTokenNames(session::tokenNamesRequest(session, vocabulary));
    const auto valueOf = [&session](graph::NodeId id) { return session.values().of(id); };
    for (const std::string& text : reads) {
        SONDE_ASSIGN(const auto read, parse(*session.document(), text));
        const auto& [node, id] = read;
        const std::string& name = session.document()->graph->node(node).name;
        const tensor::Value* const value = session.values().of(node);
        if (!value) return base::usageError("there is no value of '" + name + "' to read", "--read");
        if (!value->isTensor())
            return base::usageError("'" + name + "' is no tensor, but " + value->typeText(), "--read");
        const auto by = analysis::quantizationOf(*session.document()->graph, node, valueOf);
        SONDE_ASSIGN(const auto lines,
                     session::readingLines({value->tensor(), by ? &*by : nullptr, &tokens, rateOf(session, node)}, id,
                                           commandLineWork().stop));
        fmt::print("{}  {}\n", base::visibleText(name), id);
        for (const std::string& line : lines) fmt::print("  {}\n", base::visibleText(line));
    }
    return {};
}

}  // namespace sonde::app
