#pragma once

#include <QtGlobal>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/session/repeated_run.h"
#include "core/session/why/chain.h"
#include "core/session/why/run_reader.h"

namespace sonde::test {

/// A chain, with the names of its nodes: the graph goes with the session.
struct FollowedChain {
    std::vector<std::string> nodes;  ///< of the hops
    session::why::Chain chain;
    tensor::Tensor output;  ///< that it began in

    std::string text() const {
        std::string all;
        for (const std::string& node : nodes) all += node + " ";
        return all + "(" + chain.end + ")";
    }
};

/// Which element of the first row of the output is followed.
using ChosenElement = std::function<std::int64_t(const tensor::Tensor& output)>;
using FollowedFrom = std::function<base::Result<session::why::Chain>(
    const session::debug::View&, const session::why::Place&, session::why::Reader&)>;

/// Runs a model with the output 'y' [1,N] on one input, and follows an element of that. Nothing, with a warning, if
/// something fails.
inline std::optional<FollowedChain> followedChain(const std::string& model, const tensor::Tensor& input,
                                                  const ChosenElement& chosen, const FollowedFrom& follow) {
    session::Session session;
    if (!session.open(model)) return std::nullopt;
    session.runs().giveValues({tensor::Value(input)});
    session.runs().run();
    const auto again = session::RepeatedRun::of(session);
    const graph::InternalGraph& graph = *session.document()->graph;
    const graph::NodeId output = graph.findNode("y");
    if (!again || !(*again)->reach(output, {})) return std::nullopt;
    const session::debug::View view = (*again)->view(output);
    const base::WorkContext work;
    session::why::RunReader reader(view, work);
    const auto value = reader.value(output);
    if (!value) return std::nullopt;
    auto chain = follow(view, {output, {}, {0, chosen(value->tensor())}}, reader);
    if (!chain) {
        qWarning("%s", chain.error().text().c_str());
        return std::nullopt;
    }
    FollowedChain followed{{}, std::move(*chain), value->tensor()};
    for (const auto& hop : followed.chain.hops) followed.nodes.push_back(graph.node(hop.place.node).name);
    return followed;
}

}  // namespace sonde::test
