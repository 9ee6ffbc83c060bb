#include "app/verbs/inputs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "core/base/one_line.h"
#include "core/base/visible_text.h"
#include "core/document/found_nodes.h"
#include "core/session/bisection/default_inputs.h"
#include "core/session/session_state.h"

namespace sonde::app {

void InputChoice::addTo(CLI::App& command) {
    command.add_option(
        "--input-data", spec,
        "Inputs: x:image.png;mask:#rand(0,1), sr:16000, ids:[[1,2,3]], a.npy, #zeros, file.npz#case1, @list.txt (default: #rand(0,1))");
    std::vector<std::string> names;
    std::string help = "Conversion of images to numbers.";
    for (const io::ImagePreset& preset : io::imagePresets()) {
        names.emplace_back(preset.id);
        help += " " + names.back() + ": " + std::string(preset.description) + ".";
    }
    command.add_option("--image", image, help)->check(CLI::IsMember(names))->capture_default_str();
}

void printWarning(const std::string& what, const std::string& where) {
    const std::string place = where.empty() ? std::string() : " (" + base::visibleText(where) + ')';
    fmt::print(stderr, "sonde: warning: {}{}\n", base::visibleText(what), place);
}

void printNotes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
        fmt::print(stderr, "sonde: note: {}\n", base::visibleText(base::oneLine(note)));
}

std::uint64_t seedOf(const document::Document& document, const InputChoice& choice) {
    return choice.seed.value_or(document.session ? document.session->file.seed : 0);
}

base::Result<std::vector<io::InputCase>> inputsFor(const document::Document& document, const InputChoice& choice) {
    auto cases =
        choice.spec.empty() && document.session
            ? session::readSessionCases(document, choice.seed, commandLineWork())
            : session::readCases(document, {choice.spec, choice.image, seedOf(document, choice)}, commandLineWork());
    if (!cases) return cases;
    for (const io::InputCase& each : *cases) printNotes(each.notes);
    if (choice.spec.empty() && !document.session && !cases->empty())
        printNotes(session::bisection::notesOnDefaults(*document.graph, cases->front().values));
    return cases;
}

base::Result<std::vector<graph::NodeId>> nodesFor(const document::Document& document,
                                                  const std::vector<std::string>& names) {
    std::vector<graph::NodeId> nodes;
    for (const std::string& name : names) {
        SONDE_ASSIGN(const auto found, document::findNodes(document, name));
        nodes.insert(nodes.end(), found.begin(), found.end());
    }
    return nodes;
}

}  // namespace sonde::app
