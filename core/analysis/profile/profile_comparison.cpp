#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/profile/stored_profile.h"
#include "core/base/visible_text.h"

namespace sonde::analysis {

using graph::ExprId;

namespace {

constexpr std::size_t kNoMatch = static_cast<std::size_t>(-1);

/// Removes TAIL and digits at the end: "_token_17", "_output_0".
bool dropNumbered(std::string& name, std::string_view tail) {
    std::size_t digits = name.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(name[digits - 1])) != 0) --digits;
    if (digits == name.size() || !std::string_view(name).substr(0, digits).ends_with(tail)) return false;
    name.resize(digits - tail.size());
    return true;
}

/// What a name of ONNX Runtime may stand for in the model file, the name itself first.
std::vector<std::string> namesFor(std::string name) {
    std::vector<std::string> names{name};
    const auto dropped = [&](bool isShorter) {
        if (isShorter) names.push_back(name);
    };
    for (int i = 0; i < 4; ++i) {
        const std::size_t before = names.size();
        dropped(dropNumbered(name, "_token_"));
        if (name.ends_with("_nchwc")) name.resize(name.size() - 6), dropped(true);
        if (name.ends_with("Fusion/"))
            if (const std::size_t slash = name.rfind('/', name.size() - 2); slash != std::string::npos)
                name.resize(slash), dropped(true);
        dropped(dropNumbered(name, "_output_"));
        if (names.size() == before) break;
    }
    return names;
}

/// Identifiers as node names are made of them: other characters are '_', and none at the beginning.
std::string identifier(std::string_view name) {
    std::string text;
    for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    const std::size_t begin = text.find_first_not_of('_');
    return begin == std::string::npos ? std::string() : text.substr(begin);
}

class ProfileMatcher {
  public:
    ProfileMatcher(const StoredProfile& first, const StoredProfile& second, const graph::InternalGraph* graph)
        : m_first(first), m_second(second), m_graph(graph), m_matchOf(first.nodes.size(), kNoMatch) {}

    ProfileComparison compare() {
        m_compared.engine = m_first.engine;
        m_compared.otherEngine = m_second.engine;
        m_compared.totalNs = m_first.totalNs;
        m_compared.otherTotalNs = m_second.totalNs;
        match();
        std::vector<std::vector<std::size_t>> groups(m_second.nodes.size());
        for (std::size_t i = 0; i < m_matchOf.size(); ++i)
            if (m_matchOf[i] != kNoMatch) groups[m_matchOf[i]].push_back(i);
        if (m_graph) addFused(groups);
        for (std::size_t j = 0; j < groups.size(); ++j) {
            const StoredNode& other = m_second.nodes[j];
            if (groups[j].empty()) {
                m_compared.onlyThere.push_back(other);
                continue;
            }
            ComparedNode node{{}, other.name, 0, other.selfNs};
            std::ranges::sort(groups[j]);
            for (const std::size_t i : groups[j]) {
                node.names.push_back(m_first.nodes[i].name);
                node.ns += m_first.nodes[i].selfNs;
            }
            m_compared.nodes.push_back(std::move(node));
        }
        for (std::size_t i = 0; i < m_matchOf.size(); ++i)
            if (m_matchOf[i] == kNoMatch) m_compared.onlyHere.push_back(m_first.nodes[i]);
        sort();
        return std::move(m_compared);
    }

  private:
    using Positions = std::unordered_map<std::string, std::size_t>;

    void match() {
        for (std::size_t i = 0; i < m_first.nodes.size(); ++i) {
            const StoredNode& node = m_first.nodes[i];
            m_byName.emplace(node.name, i);
            if (!node.fileName.empty()) m_byFileName.emplace(node.fileName, i);
            m_byIdentifier.emplace(identifier(node.name), i);
        }
        for (std::size_t j = 0; j < m_second.nodes.size(); ++j) {
            const StoredNode& other = m_second.nodes[j];
            std::vector<std::string> names = namesFor(other.name);
            if (!other.fileName.empty() && other.fileName != other.name) names.push_back(other.fileName);
            const auto isTaken = [&](const Positions& table) {
                return std::ranges::any_of(names, [&](const std::string& name) { return take(table, name, j); });
            };
            if (isTaken(m_byName) || isTaken(m_byFileName)) continue;
            for (std::string& name : names) name = identifier(name);
            (void)isTaken(m_byIdentifier);
        }
    }

    bool take(const Positions& table, const std::string& name, std::size_t other) {
        const auto found = table.find(name);
        if (found == table.end() || m_matchOf[found->second] != kNoMatch) return false;
        m_matchOf[found->second] = other;
        return true;
    }

    /// Nodes without a counterpart whose only readers are in a group do their work there.
    void addFused(std::vector<std::vector<std::size_t>>& groups) {
        std::unordered_map<ExprId, std::size_t> positionOf;
        std::vector<ExprId> exprOf(m_first.nodes.size());
        for (const ExprId id : m_graph->recursiveOrder(m_graph->mainId())) {
            const graph::Expr& expr = m_graph->expr(id);
            if (expr.outputs.empty()) continue;
            const auto found = m_byName.find(m_graph->node(expr.outputs.front()).name);
            if (found == m_byName.end()) continue;
            positionOf[id] = found->second;
            exprOf[found->second] = id;
        }
        for (std::vector<std::size_t>& group : groups) {
            std::unordered_set<ExprId> inside;
            for (const std::size_t i : group) inside.insert(exprOf[i]);
            for (std::size_t at = 0; at < group.size(); ++at) {
                if (!exprOf[group[at]].valid()) continue;
                for (const graph::NodeId input : m_graph->expr(exprOf[group[at]]).inputs) {
                    const ExprId producer = m_graph->node(input).producer;
                    const auto found = positionOf.find(producer);
                    if (found == positionOf.end() || m_matchOf[found->second] != kNoMatch) continue;
                    if (!isReadOnlyBy(producer, inside)) continue;
                    m_matchOf[found->second] = m_matchOf[group.front()];
                    inside.insert(producer);
                    group.push_back(found->second);
                }
            }
        }
    }

    bool isReadOnlyBy(ExprId producer, const std::unordered_set<ExprId>& readers) const {
        const graph::Expr& expr = m_graph->expr(producer);
        return std::ranges::all_of(expr.outputs, [&](graph::NodeId output) {
            return std::ranges::all_of(m_graph->node(output).users,
                                       [&](ExprId user) { return readers.contains(user); });
        });
    }

    void sort() {
        std::ranges::stable_sort(m_compared.nodes, [](const ComparedNode& a, const ComparedNode& b) {
            return std::abs(a.difference()) > std::abs(b.difference());
        });
        std::ranges::stable_sort(m_compared.onlyHere, std::ranges::greater(), &StoredNode::selfNs);
        std::ranges::stable_sort(m_compared.onlyThere, std::ranges::greater(), &StoredNode::selfNs);
    }

    const StoredProfile& m_first;
    const StoredProfile& m_second;
    const graph::InternalGraph* m_graph;
    Positions m_byName, m_byFileName, m_byIdentifier;  ///< of the first
    std::vector<std::size_t> m_matchOf;                ///< by node of the first
    ProfileComparison m_compared;
};

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
    return text;
}

double inMilliseconds(double ns) { return ns / 1e6; }

std::string unmatchedText(const std::vector<StoredNode>& nodes, const std::string& engine, const std::string& other) {
    if (nodes.empty()) return {};
    double sum = 0;
    for (const StoredNode& node : nodes) sum += node.selfNs;
    std::string text = fmt::format("{} node{} of {} ({:.3f} ms) not found in {}: ", nodes.size(),
                                   nodes.size() == 1 ? "" : "s", engine, inMilliseconds(sum), other);
    for (std::size_t i = 0; i < std::min<std::size_t>(nodes.size(), 5); ++i)
        text += fmt::format("{}{} ({})", i ? ", " : "", base::visibleText(nodes[i].name), nodes[i].op);
    if (nodes.size() > 5) text += fmt::format(" and {} more", nodes.size() - 5);
    return text + "\n";
}

}  // namespace

ProfileComparison compareProfiles(const StoredProfile& first, const StoredProfile& second,
                                  const graph::InternalGraph* graph) {
    return ProfileMatcher(first, second, graph).compare();
}

std::string ProfileComparison::text(std::size_t lines) const {
    const bool isSame = engine == otherEngine;
    const std::string here = isSame ? "this run" : engine, there = isSame ? "the other" : otherEngine;
    std::string text = fmt::format("{}: {:.3f} ms, {}: {:.3f} ms\n{:>12}{:>12}{:>12}\n", here, inMilliseconds(totalNs),
                                   there, inMilliseconds(otherTotalNs), "ms", "other ms", "difference");
    for (std::size_t i = 0; i < std::min(nodes.size(), lines); ++i)
        text += fmt::format("{:12.3f}{:12.3f}{:+12.3f}  {}\n", inMilliseconds(nodes[i].ns),
                            inMilliseconds(nodes[i].otherNs), inMilliseconds(nodes[i].difference()),
                            base::visibleText(joined(nodes[i].names)));
    if (nodes.size() > lines) text += fmt::format("{} more (--lines, --json)\n", nodes.size() - lines);
    return text + unmatchedText(onlyHere, here, there) + unmatchedText(onlyThere, there, here);
}

std::string ProfileComparison::json() const {
    using Json = nlohmann::ordered_json;
    Json root{{"format", "sonde-profile-comparison"},
              {"version", 1},
              {"engines", {engine, otherEngine}},
              {"total_ns", {totalNs, otherTotalNs}}};
    root["nodes"] = Json::array();
    for (const ComparedNode& node : nodes)
        root["nodes"].push_back({{"nodes", node.names},
                                 {"other", node.other},
                                 {"ns", node.ns},
                                 {"other_ns", node.otherNs},
                                 {"difference_ns", node.difference()}});
    for (const auto& [key, list] : {std::pair("only_first", &onlyHere), std::pair("only_second", &onlyThere)}) {
        root[key] = Json::array();
        for (const StoredNode& node : *list)
            root[key].push_back({{"name", node.name}, {"op", node.op}, {"ns", node.selfNs}});
    }
    return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::analysis
