#include "core/trace/traced_module.h"

#include <algorithm>

namespace sonde::trace {

using tensor::Value;

namespace {

std::string formText(std::string_view forwardName, const CallStructure& structure) {
    return std::string(forwardName) + '(' + structure.text() + ')';
}

/// What a call gives, from one value per parameter.
CallStructure givenStructure(std::span<const ForwardParameter> parameters, std::span<const Var> values) {
    CallStructure given;
    given.positional.emplace_back().kind = Structure::Kind::Module;
    const CallArguments arguments = spread(parameters, values);
    for (const Var& var : arguments.positional) given.positional.push_back(Structure::of(var));
    for (const auto& [name, var] : arguments.keywords) given.keywords.emplace_back(name, Structure::of(var));
    return given;
}

/// One structure per parameter, those of arguments that a parameter collects in one; none if the call has another
/// number of arguments.
std::vector<Structure> structuresOf(const CallStructure& call, const std::vector<ForwardParameter>& parameters) {
    std::vector<Structure> result;
    std::size_t positional = 1;  // after the module
    std::size_t keyword = 0;
    for (const ForwardParameter& parameter : parameters) {
        Structure& structure = result.emplace_back();
        if (parameter.collects && parameter.keywordOnly) {
            structure.kind = Structure::Kind::Dict;
            for (; keyword < call.keywords.size(); ++keyword) {
                structure.keys.emplace_back(call.keywords[keyword].first);
                structure.items.push_back(call.keywords[keyword].second);
            }
        } else if (parameter.collects) {
            structure.kind = Structure::Kind::Tuple;
            for (; positional < call.positional.size(); ++positional)
                structure.items.push_back(call.positional[positional]);
        } else if (parameter.keywordOnly ? keyword >= call.keywords.size() : positional >= call.positional.size()) {
            return {};
        } else {
            structure = parameter.keywordOnly ? call.keywords[keyword++].second : call.positional[positional++];
        }
    }
    return positional == std::max<std::size_t>(call.positional.size(), 1) && keyword == call.keywords.size()
               ? result
               : std::vector<Structure>();
}

}  // namespace

const TracedModule::Entry* TracedModule::findEntry(std::string_view forwardName, const CallStructure& argDef) const {
    const std::string text = argDef.text();
    for (const Entry& entry : m_entries) {
        if (entry.forwardName == forwardName && entry.argDef.text() == text) return &entry;
    }
    return nullptr;
}

TracedModule::Entry* TracedModule::entryOf(const ModuleGraph& graph) {
    const auto found = std::ranges::find_if(m_entries, [&](const Entry& entry) { return entry.graph.get() == &graph; });
    return found == m_entries.end() ? nullptr : &*found;
}

base::Result<ModuleGraph*> TracedModule::graph() const {
    if (m_entries.size() == 1) return m_entries.front().graph.get();
    return base::usageError("the module " + m_className + " has " + std::to_string(m_entries.size()) + " graphs", {},
                            "entries() has them all");
}

bool TracedModule::makesTensor() const {
    return std::ranges::all_of(m_entries,
                               [](const Entry& entry) { return entry.outDef.kind == Structure::Kind::Tensor; });
}

const TracedModule::Entry& TracedModule::choose(std::span<const Var> in, std::vector<Var>& leaves) {
    const CallStructure given = givenStructure(m_parameters, in);
    const auto fits = [&](const Entry& entry) {
        leaves.clear();
        const std::vector<Structure> wanted = structuresOf(entry.argDef, m_parameters);
        if (wanted.size() != in.size()) return false;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!takeApart(wanted[i], in[i], leaves)) return false;
        }
        return true;
    };
    const Entry* exact = findEntry(m_forwardName, given);
    if (exact && fits(*exact)) return *exact;
    // Proxies of symbolic tracers do not say what they stand for, and where sizes decide a number any number fits.
    for (const Entry& entry : m_entries) {
        if (entry.forwardName == m_forwardName && fits(entry)) return entry;
    }
    throw noSuchForm(given);
}

TraceError TracedModule::noSuchForm(const CallStructure& given) const {
    std::string text = "support input args kwargs format:\n";
    for (const Entry& entry : m_entries) text += "    " + formText(entry.forwardName, entry.argDef) + '\n';
    return {TraceErrorKind::Assertion, text + "but get:\n    " + formText(m_forwardName, given)};
}

std::vector<Var> TracedModule::bound(std::vector<Var> args, const Keywords& keywords) const {
    Keywords all = keywords;
    std::vector<std::size_t> missing;
    for (std::size_t i = args.size(); i < m_parameters.size(); ++i) {
        const std::string& name = m_parameters[i].name;
        const bool isGiven = std::ranges::find(keywords, name, &Keywords::value_type::first) != keywords.end();
        if (!m_parameters[i].isAdded || isGiven) continue;
        all.emplace_back(name, Var());
        missing.push_back(i);
    }
    std::vector<Var> values = Module::bound(std::move(args), all);
    if (missing.empty()) return values;
    std::vector<ForwardParameter> recorded = m_parameters;
    for (auto i = missing.rbegin(); i != missing.rend(); ++i) {
        recorded.erase(recorded.begin() + static_cast<std::ptrdiff_t>(*i));
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(*i));
    }
    throw noSuchForm(givenStructure(recorded, values));
}

Var TracedModule::forward(std::span<const Var> in) {
    std::vector<Var> leaves;
    const Entry entry = choose(in, leaves);
    const std::vector<Var> results = entry.graph->interpret(*this, leaves);
    if (!entry.graph->endPoints().empty()) return Var::list(results);
    std::size_t next = 0;
    return entry.outDef.rebuilt(std::span<const Var>(results), next);
}

Var TracedModule::callForward(std::string_view name, std::vector<Var> args, Keywords keywords) {
    struct Restore {
        std::string& place;
        std::string before;
        ~Restore() { place = std::move(before); }
    } restore{m_forwardName, m_forwardName};
    m_forwardName = name;
    return call(std::move(args), std::move(keywords));
}

base::Result<Value> TracedModule::run(std::vector<Value> args, std::vector<std::pair<std::string, Value>> keywords) {
    try {
        Keywords named;
        for (auto& [name, value] : keywords) named.emplace_back(name, Var(std::move(value)));
        for (const Watched& watched : watchNodeValue()) watched.node->graph().m_watched.clear();
        return call(std::vector<Var>(args.begin(), args.end()), std::move(named)).toValue();
    } catch (...) {
        return TraceError::ofCurrentException().toRunError(m_className);
    }
}

void TracedModule::setWatchPoints(std::vector<TracedNode*> nodes) {
    clearWatchPoints();
    for (TracedNode* node : nodes) {
        m_watch.push_back(node);
        node->graph().m_watch.insert(node);
    }
}

void TracedModule::clearWatchPoints() {
    for (const TracedNode* node : m_watch) {
        ModuleGraph& graph = node->graph();
        graph.m_watch.erase(node);
        std::erase_if(graph.m_watched, [&](const auto& entry) { return entry.first == node; });
    }
    m_watch.clear();
}

std::vector<TracedModule::Watched> TracedModule::watchNodeValue() const {
    std::vector<Watched> result;
    for (const TracedNode* node : m_watch) {
        Watched& watched = result.emplace_back(Watched{node, std::nullopt});
        for (const auto& [known, value] : node->graph().m_watched) {
            if (known == node) watched.value = value;
        }
    }
    return result;
}

base::Result<void> TracedModule::setEndPoints(std::vector<TracedNode*> nodes) {
    for (const TracedNode* node : nodes) {
        if (!entryOf(node->graph()))
            return base::usageError("node '" + node->fullName() + "' is not of a graph of this module", m_className);
    }
    clearEndPoints();
    for (TracedNode* node : nodes) node->graph().m_end.push_back(node);
    return {};
}

void TracedModule::clearEndPoints() {
    for (const Entry& entry : m_entries) entry.graph->m_end.clear();
}

void TracedModule::appendTensorParameter(const ModuleGraph& graph, const std::string& name) {
    Entry& entry = *entryOf(graph);
    // Positional parameters come before those that have to be named; one that collects takes it, too.
    const auto keyword = std::ranges::find_if(m_parameters, &ForwardParameter::keywordOnly);
    const bool isCollected = keyword != m_parameters.begin() && std::prev(keyword)->collects;
    if (!isCollected) m_parameters.insert(keyword, {name, std::nullopt, false, true, false, true});
    entry.argDef.positional.emplace_back();
    // The graph's inputs are in the order of the arguments' leaves.
    std::size_t positionalLeaves = 0;
    for (const Structure& structure : entry.argDef.positional) positionalLeaves += structure.leafCount();
    std::vector<TracedNode*> inputs = entry.graph->inputs();
    std::rotate(inputs.begin() + static_cast<std::ptrdiff_t>(positionalLeaves) - 1, inputs.end() - 1, inputs.end());
    GraphBuilder(*entry.graph).setInputs(std::move(inputs));
}

void TracedModule::setTensorParameters(const ModuleGraph& graph, std::vector<ForwardParameter> parameters) {
    Entry& entry = *entryOf(graph);
    m_parameters = std::move(parameters);
    entry.argDef = {};
    entry.argDef.positional.emplace_back().kind = Structure::Kind::Module;
    for (const ForwardParameter& parameter : m_parameters) {
        if (parameter.keywordOnly) {
            entry.argDef.keywords.emplace_back(parameter.name, Structure{});
        } else {
            entry.argDef.positional.emplace_back();
        }
    }
}

void TracedModule::pairResult(const ModuleGraph& graph) {
    Entry& entry = *entryOf(graph);
    Structure pair;
    pair.kind = Structure::Kind::Tuple;
    pair.items = {entry.outDef, Structure{}};
    entry.outDef = std::move(pair);
}

void TracedModule::setResult(const ModuleGraph& graph, Structure structure) {
    entryOf(graph)->outDef = std::move(structure);
}

NodeQuery NodeQuery::type(std::string_view moduleClass) const {
    return NodeQuery(kept([&](const TracedNode& node) {
        if (!node.isModule()) return false;
        if (node.moduleType() == moduleClass) return true;
        const auto owner = node.owner();
        if (!owner) return false;
        return owner->className() == moduleClass ||
               (moduleClass == "TracedModule" && dynamic_cast<const TracedModule*>(owner.get()));
    }));
}

}  // namespace sonde::trace
