#include "core/session/diff/stored_pairs.h"

#include <filesystem>

#include "core/document/session_model.h"
#include "core/session/watch/node_identity.h"

namespace sonde::session {

namespace fs = std::filesystem;
using graph::InternalGraph;
using graph::NodeId;
using io::SessionFile;

namespace {

SessionFile::Node storedName(const InternalGraph& graph, NodeId node) {
    const graph::Expr& producer = graph.expr(graph.node(node).producer);
    return {graph.node(node).name, producer.qualname.value_or(""), {}};
}

NodeIdentity identityOf(const SessionFile::Node& node) {
    NodeIdentity identity = node.identity.empty() ? NodeIdentity() : NodeIdentity::of(node.identity);
    identity.name = node.name;
    identity.qualname = node.qualname;
    return identity;
}

}  // namespace

StoredPair storedPair(const InternalGraph& first, const InternalGraph& second, const PairsByHand::Pair& pair,
                      bool isApart) {
    return {storedName(first, pair.first), storedName(second, pair.second), isApart};
}

PairsByHand pairsByHand(const std::vector<StoredPair>& stored, const InternalGraph& first, const InternalGraph& second,
                        std::vector<std::string>& lost) {
    PairsByHand byHand;
    if (stored.empty()) return byHand;
    const IdentityIndex ofFirst(first), ofSecond(second);
    for (const StoredPair& pair : stored) {
        const NodeId a = ofFirst.find(identityOf(pair.a)).node, b = ofSecond.find(identityOf(pair.b)).node;
        if (a.valid() && b.valid()) (pair.isApart ? byHand.apart : byHand.same).emplace_back(a, b);
        else
            lost.push_back("pair of '" + pair.a.name + "' and '" + pair.b.name + "': the " +
                           (a.valid() ? "second" : "first") + " model has no node like it");
    }
    return byHand;
}

std::string comparedModelOf(const document::Document& document) {
    if (!document.session) return {};
    const std::string& stored = document.session->file.compared.model;
    if (stored.empty() || stored.starts_with("zoo:")) return stored;
    return (document.session->folder / stored).lexically_normal().string();
}

std::vector<StoredPair> storedPairsWith(const document::Document& document, const std::string& other) {
    const std::string model = comparedModelOf(document);
    std::error_code ignored;
    if (model.empty() || (model != other && !fs::equivalent(model, other, ignored))) return {};
    return document.session->file.compared.pairs;
}

}  // namespace sonde::session
