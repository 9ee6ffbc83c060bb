#include "core/session/why_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/number_text.h"
#include "core/graph/source_files.h"
#include "core/ops/dependence/leaves.h"
#include "core/session/chain_reference.h"
#include "core/session/why/json.h"
#include "core/session/why/notable_element.h"
#include "core/session/why/run_reader.h"

namespace sonde::session {

using nlohmann::ordered_json;
using why::PlaceProblem;

namespace {

constexpr std::size_t kMaxTermsShown = 1'000;

/// The element that a command names.
struct WrittenElement {
    why::Place place;
    why::PlaceText text;
    std::size_t column = 1;  ///< of the command's first word
};

std::optional<PlaceProblem> readElement(Session& session, const debug::Words& words, WrittenElement& element) {
    element.column = words.column();
    PlaceProblem problem;
    const auto read = why::readPlace(words.rest(), problem);
    if (!read) return PlaceProblem{std::move(problem.error), element.column + problem.column - 1};
    auto node = session.document()->findNode(read->node);
    if (!node) return PlaceProblem{std::move(node).error(), element.column};
    element.text = *read;
    element.place = {*node, {}, read->index};
    return std::nullopt;
}

/// Of a value that is a list the first number of an index is the item's, of one in that the second, and so on.
base::Result<void> takeMember(why::Place& place, const tensor::Value& value) {
    const tensor::Value* in = &value;
    std::size_t member = 0;
    while (in->isListLike() && !place.index.empty()) {
        const auto count = static_cast<std::int64_t>(in->items().size());
        const std::int64_t item = place.index.front() + (place.index.front() < 0 ? count : 0);
        if (item < 0 || item >= count) return base::usageError("the list has " + std::to_string(count) + " values");
        for (std::int64_t i = 0; i < item; ++i) member += ops::leafCount(in->items()[static_cast<std::size_t>(i)]);
        in = &in->items()[static_cast<std::size_t>(item)];
        place.member = member;
        place.index.erase(place.index.begin());
    }
    return {};
}

/// What `look(view, reader, place, work)` finds in the run, seen from where it is. Without brackets it looks at the
/// element that stands out, whose place `element` then has.
template <typename T, typename Look>
std::optional<PlaceProblem> lookAt(Session& session, WrittenElement& element, std::optional<T>& found, Look look) {
    std::optional<base::Result<T>> result;
    session.debugger().inspect(
        [&](const debug::View& view, const base::WorkContext& work) -> base::Result<T> {
            view.doCurrent(work);
            why::RunReader reader(view, work);
            why::Place place = element.place;
            SONDE_ASSIGN(const tensor::Value value, reader.value(place.node));
            SONDE_TRY(takeMember(place, value));
            if (!element.text.hasBrackets) SONDE_TRY(why::findElement(place, reader, work.stop));
            element.place = place;
            SONDE_ASSIGN(T seen, look(view, reader, place, work));
            SONDE_TRY(graph::checkFiles(session.document()->graph));
            return seen;
        },
        [&](base::Result<T> seen) { result.emplace(std::move(seen)); });
    if (!result) {
        const bool isRunning = session.debugger().isRunning();
        return PlaceProblem{base::usageError(isRunning ? "the run goes on" : "the run has not begun", {},
                                             isRunning ? "pause it first" : "run or step first"),
                            element.column};
    }
    if (!*result) return PlaceProblem{std::move(*result).error(), element.column + element.text.indexColumn - 1};
    found = std::move(**result);
    return std::nullopt;
}

PlaceProblem unexpectedRest(const WrittenElement& element) {
    return {base::usageError("unexpected '" + std::string(element.text.rest) + "'"),
            element.column + element.text.restColumn - 1};
}

/// The number behind a place; without one `count` stays.
std::optional<PlaceProblem> readCount(const WrittenElement& element, std::size_t& count) {
    if (element.text.rest.empty()) return std::nullopt;
    const auto given = base::parseNumber<std::uint32_t>(element.text.rest);
    if (!given) return unexpectedRest(element);
    count = std::min<std::size_t>(*given, kMaxTermsShown);
    return std::nullopt;
}

}  // namespace

std::optional<PlaceProblem> answerWhy(Session& session, const debug::Words& words, ordered_json& answer) {
    WrittenElement element;
    if (auto problem = readElement(session, words, element)) return problem;
    why::Options options;
    if (auto problem = readCount(element, options.terms)) return problem;
    const graph::InternalGraph& graph = *session.document()->graph;
    std::optional<why::Explanation> found;
    auto problem = lookAt(session, element, found, [&](auto&, auto& reader, const why::Place& place, const auto& work) {
        return why::explain(graph, place, reader, options, work);
    });
    if (found) why::addExplanation(answer, *found, graph);
    return problem;
}

std::optional<PlaceProblem> answerField(Session& session, const debug::Words& words, ordered_json& answer) {
    WrittenElement element;
    if (auto problem = readElement(session, words, element)) return problem;
    if (!element.text.rest.empty()) return unexpectedRest(element);
    const graph::InternalGraph& graph = *session.document()->graph;
    std::optional<why::ReceptiveField> found;
    auto problem = lookAt(session, element, found, [&](auto&, auto& reader, const why::Place& place, const auto& work) {
        return why::receptiveField(graph, place, reader, work);
    });
    if (!found) return problem;
    why::addPlace(answer, element.place, graph);
    answer["field"] = why::fieldJson(*found, graph);
    return problem;
}

std::optional<PlaceProblem> answerContributions(Session& session, const debug::Words& words, ordered_json& answer) {
    WrittenElement element;
    if (auto problem = readElement(session, words, element)) return problem;
    std::size_t count = why::Options{}.terms;
    if (auto problem = readCount(element, count)) return problem;
    const graph::InternalGraph& graph = *session.document()->graph;
    std::optional<why::Contributions> found;
    auto problem = lookAt(session, element, found, [&](auto&, auto& reader, const why::Place& place, const auto& work) {
        return why::contributions(graph, place, reader, {}, work);
    });
    if (!found) return problem;
    why::addPlace(answer, element.place, graph);
    why::addContributions(answer, *found, graph, count);
    return problem;
}

namespace {

/// `against FILE|baseline|none` behind a place; without it what the session has.
std::optional<PlaceProblem> readReference(Session& session, const WrittenElement& element, ChainReference& reference) {
    debug::Words words(element.text.rest);
    if (words.atEnd()) {
        reference = chainReference(session);
        return std::nullopt;
    }
    if (!words.takes("against")) return unexpectedRest(element);
    const std::string what(words.rest());
    const std::size_t column = element.column + element.text.restColumn - 1;
    if (what.empty())
        return PlaceProblem{base::usageError("against what?", {}, "FILE.npz, a model, baseline or none"), column};
    if (what == "none") return std::nullopt;
    if (what != "baseline") {
        reference = chainReferenceOf(session, what);
        return std::nullopt;
    }
    reference = chainReference(session);
    if (reference.baseline) return std::nullopt;
    return PlaceProblem{base::usageError("the run has no edits, and so no baseline"), column};
}

}  // namespace

std::optional<PlaceProblem> answerChain(Session& session, const debug::Words& words, ordered_json& answer) {
    WrittenElement element;
    if (auto problem = readElement(session, words, element)) return problem;
    ChainReference reference;
    if (auto problem = readReference(session, element, reference)) return problem;
    const bool mustDiffer = !element.text.rest.empty() && reference;
    const graph::InternalGraph& graph = *session.document()->graph;
    std::optional<why::Chain> found;
    auto problem =
        lookAt(session, element, found,
               [&](const debug::View& view, auto& reader, const why::Place& place, const base::WorkContext& work) {
                   return followChain(view, place, reader, reference, mustDiffer, {}, work);
               });
    if (found) why::addChain(answer, *found, graph);
    return problem;
}

}  // namespace sonde::session
