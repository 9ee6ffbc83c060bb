#include "core/session/gradient_commands.h"

#include <nlohmann/json.hpp>

#include "core/graph/source_files.h"
#include "core/session/gradient/saliency.h"

namespace sonde::session {

using nlohmann::ordered_json;
using why::PlaceProblem;

namespace {

/// What a line asks for.
struct GradientLine {
    gradient::Request request;
    std::string file;
    std::size_t column = 1;
};

std::optional<PlaceProblem> readElement(Session& session, debug::Words& words, GradientLine& line) {
    const std::string_view rest = words.rest();
    if (rest.empty() || rest.starts_with("to ") || rest.starts_with("save ")) return std::nullopt;
    PlaceProblem problem;
    const auto read = why::readPlace(rest, problem);
    if (!read) return PlaceProblem{std::move(problem.error), line.column + problem.column - 1};
    auto node = session.document()->findNode(read->node);
    if (!node) return PlaceProblem{std::move(node).error(), line.column};
    line.request.of = {*node, {}, read->index};
    words = debug::Words(read->rest);
    line.column += read->restColumn - 1;
    return std::nullopt;
}

std::optional<PlaceProblem> readLine(Session& session, debug::Words& words, GradientLine& line) {
    line.column = words.column();
    if (auto problem = readElement(session, words, line)) return problem;
    // Columns count from where the words that are left begin.
    const std::size_t before = words.atEnd() ? line.column : line.column - words.column();
    const auto column = [&] { return before + words.column(); };
    while (!words.atEnd()) {
        const std::size_t here = column();
        if (words.takes("to")) {
            const std::size_t at = column();
            if (words.atEnd()) return PlaceProblem{base::usageError("the name of a node is missing"), at};
            auto node = session.document()->findNode(debug::unquoted(words.next()));
            if (!node) return PlaceProblem{std::move(node).error(), at};
            line.request.to.push_back(*node);
        } else if (words.takes("save")) {
            line.file = std::string(words.rest());
            if (line.file.empty()) return PlaceProblem{base::usageError("the name of the file is missing"), column()};
            return std::nullopt;
        } else {
            return PlaceProblem{base::usageError("unexpected '" + std::string(words.rest()) + "'"), here};
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<PlaceProblem> answerGradient(Session& session, debug::Words& words, ordered_json& answer) {
    GradientLine line;
    const std::size_t start = words.column();
    if (auto problem = readLine(session, words, line)) return problem;
    line.request.threads = session.runs().settings().threads;
    std::optional<base::Result<gradient::Saliency>> result;
    session.debugger().inspect(
        [&](const debug::View& view, const base::WorkContext& work) -> base::Result<gradient::Saliency> {
            view.doCurrent(work);
            SONDE_ASSIGN(gradient::Saliency found, gradient::saliency(view, line.request, work));
            SONDE_TRY(graph::checkFiles(session.document()->graph));
            return found;
        },
        [&](base::Result<gradient::Saliency> found) { result.emplace(std::move(found)); });
    if (!result) {
        const bool isRunning = session.debugger().isRunning();
        return PlaceProblem{base::usageError(isRunning ? "the run goes on" : "the run has not begun", {},
                                             isRunning ? "pause it first" : "run or step first"),
                            start};
    }
    if (!*result) return PlaceProblem{gradient::withOption(std::move(*result).error(), "to NODE"), start};
    const graph::InternalGraph& graph = *session.document()->graph;
    if (!line.file.empty()) {
        if (auto saved = gradient::saveSaliency(**result, graph, line.file); !saved)
            return PlaceProblem{std::move(saved).error(), start};
        answer["saved"] = line.file;
    }
    gradient::addSaliency(answer, **result, graph);
    return std::nullopt;
}

}  // namespace sonde::session
