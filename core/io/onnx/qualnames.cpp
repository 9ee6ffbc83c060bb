#include "core/io/onnx/qualnames.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/number_text.h"
#include "core/io/onnx/torch_paths.h"

namespace sonde::io::onnx {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::ModuleTree;
using graph::NodeId;
using graph::ScopeId;

constexpr std::string_view kScopes = "pkg.torch.onnx.name_scopes";
constexpr std::string_view kClasses = "pkg.torch.onnx.class_hierarchy";
constexpr std::string_view kStack = "pkg.torch.onnx.stack_trace";
constexpr std::size_t kMaxDepth = TorchPaths::kMaxLevels;
/// Of modules in all: names of a file may have more levels together than memory holds.
constexpr std::size_t kMaxScopes = 250'000;

/// One step of a chain of module calls.
struct Level {
    std::string qualname;
    std::string moduleClass;
    int call = 0;
};
using Chain = std::vector<Level>;

std::optional<std::string_view> metadataOf(const NameHint& hint, std::string_view key) {
    for (const auto& [name, value] : hint.metadata) {
        if (name == key) return value;
    }
    return std::nullopt;
}

/// A Python list of strings as its repr prints it: ['', 'layer1', "it's"].
std::vector<std::string> pythonStrings(std::string_view text) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char quote = text[i];
        if (quote != '\'' && quote != '"') continue;
        std::string item;
        for (++i; i < text.size() && text[i] != quote; ++i) {
            if (text[i] == '\\' && i + 1 < text.size()) ++i;
            item += text[i];
        }
        result.push_back(std::move(item));
    }
    return result;
}

/// "layer1.0.weight" → "layer1.0"; empty for names that are not a path of attributes ("onnx::Conv_193",
/// "dense/kernel:0").
std::string moduleOfParameter(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size() ||
        name.find_first_of("/: ") != std::string_view::npos)
        return {};
    if (name.starts_with('.') || name.find("..") != std::string_view::npos) return {};
    return std::string(name.substr(0, dot));
}

/// What TensorFlow puts around a saved function: "StatefulPartitionedCall", "PartitionedCall_1".
bool isWrapper(std::string_view segment) {
    if (segment.starts_with("Stateful")) segment.remove_prefix(8);
    return segment.starts_with("PartitionedCall");
}

/// The innermost frame of a Python stack trace: its last `File "x.py", line 12, in forward`.
graph::SourcePlace sourceOf(std::string_view stack) {
    graph::SourcePlace source;
    source.stack = stack;
    const std::size_t file = stack.rfind("File \"");
    if (file == std::string_view::npos) return source;
    const std::size_t begin = file + 6;
    const std::size_t end = stack.find('"', begin);
    if (end == std::string_view::npos) return source;
    source.file = stack.substr(begin, end - begin);
    const std::size_t line = stack.find("line ", end);
    if (line != std::string_view::npos) {
        std::string_view rest = stack.substr(line + 5);
        source.line = base::takeNumber<int>(rest).value_or(0);
    }
    return source;
}

/// name_scopes lists the qualnames of the modules around a node, outermost first, and last the node's own name;
/// "conv@1" is a module's second call.
Chain chainOfMetadata(const NameHint& hint) {
    Chain chain;
    const std::optional<std::string_view> scopes = metadataOf(hint, kScopes);
    if (!scopes) return chain;
    std::vector<std::string> names = pythonStrings(*scopes);
    if (names.empty()) return chain;
    names.pop_back();
    const std::optional<std::string_view> classes = metadataOf(hint, kClasses);
    const std::vector<std::string> classNames = classes ? pythonStrings(*classes) : std::vector<std::string>();
    for (std::size_t i = 0; i < names.size() && chain.size() < kMaxDepth; ++i) {
        Level level;
        if (i < classNames.size()) level.moduleClass = classNames[i];
        level.qualname = names[i];
        if (const std::size_t at = names[i].rfind('@'); at != std::string::npos) {
            std::string_view rest = std::string_view(names[i]).substr(at + 1);
            level.call = base::takeNumber<int>(rest).value_or(0);
            level.qualname.resize(at);
        }
        chain.push_back(std::move(level));
    }
    return chain;
}

/// The scope around, the qualname, the number of the call.
using ScopeKey = std::tuple<std::uint32_t, std::string, int>;
struct ByParts {
    using is_transparent = void;
    using Parts = std::tuple<std::uint32_t, std::string_view, int>;
    bool operator()(const Parts& a, const Parts& b) const { return a < b; }
};

class Assigner {
  public:
    Assigner(InternalGraph& graph, ModuleTree& modules, const std::vector<NameHint>& hints,
             const std::vector<FunctionCall>& calls)
        : m_graph(graph), m_modules(modules), m_hints(hints), m_calls(calls), m_paths(collectParameterModules()) {}

    void run() {
        for (const NameHint& hint : m_hints) {
            if (isTorchPath(hint)) m_paths.add(hint.path, evidenceOf(hint.expr));
        }
        m_paths.resolve();
        std::vector<const NameHint*> byExpr(m_graph.exprCount(), nullptr);
        for (const NameHint& hint : m_hints) byExpr[hint.expr.index()] = &hint;
        for (ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const NameHint* hint = byExpr[id.index()];
            if (hint && !isWeight(*hint)) assign(*hint);
            else inheritFromOwner(id);
        }
        attributeParameters();
    }

  private:
    static bool isTorchPath(const NameHint& hint) {
        return !hint.call && hint.path.starts_with('/') && !metadataOf(hint, kScopes);
    }

    /// A weight that is computed (a ConstantOfShape of its dim sizes): its name is that of a tensor, not of a place.
    bool isWeight(const NameHint& hint) const {
        const Expr& expr = m_graph.expr(hint.expr);
        if (hint.call || hint.path.starts_with('/') || metadataOf(hint, kScopes) || expr.inputs.empty() ||
            !expr.bodies.empty())
            return false;
        return std::ranges::all_of(expr.inputs, [this](NodeId input) {
            return m_graph.expr(m_graph.node(input).producer).kind == graph::ExprKind::Constant;
        });
    }

    const std::set<std::string>& collectParameterModules() {
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            const Expr& expr = m_graph.expr(ExprId(i));
            if (!expr.isParameter) continue;
            std::string module = moduleOfParameter(expr.name);
            if (!module.empty()) m_parameterModules.insert(std::move(module));
        }
        return m_parameterModules;
    }

    std::vector<std::string> evidenceOf(ExprId id) const {
        std::vector<std::string> result;
        for (NodeId input : m_graph.expr(id).inputs) {
            const Expr& producer = m_graph.expr(m_graph.node(input).producer);
            if (!producer.isParameter) continue;
            std::string module = moduleOfParameter(producer.name);
            if (!module.empty()) result.push_back(std::move(module));
        }
        return result;
    }

    Chain chainOf(const NameHint& hint) const {
        if (Chain chain = chainOfMetadata(hint); !chain.empty()) return chain;
        Chain chain;
        if (hint.path.starts_with('/')) {
            for (const TorchPaths::Call& call : m_paths.callsOf(hint.path)) {
                if (chain.size() < kMaxDepth) chain.push_back({m_paths.module(call.module).qualname, "", call.number});
            }
        } else if (hint.path.find('/') != std::string_view::npos) {
            std::string qualname;
            for (const std::string& segment : scopeSegments(hint.path.substr(0, hint.path.find(';')))) {
                if (isWrapper(segment)) continue;
                qualname += (qualname.empty() ? "" : ".") + segment;
                if (chain.size() < kMaxDepth) chain.push_back({qualname, "", 0});
            }
        }
        return chain;
    }

    /// An operation that reads `body.1.gate.conv.weight` inside `body.1` belongs to `body.1.gate.conv`: exporters of
    /// scripts lose the path of a second instance of a class, older ones wrote no paths at all.
    void refineByParameters(const NameHint& hint, Chain& chain) const {
        const bool otherPaths = !hint.path.starts_with('/') && hint.path.find('/') != std::string_view::npos;
        if (otherPaths) return;
        const std::string current = chain.empty() ? "" : chain.back().qualname;
        for (const std::string& module : evidenceOf(hint.expr)) {
            if (!current.empty() && !module.starts_with(current + ".")) continue;
            std::size_t dot = current.empty() ? 0 : current.size() + 1;
            while (dot != std::string::npos && dot < module.size() && chain.size() < kMaxDepth) {
                dot = module.find('.', dot);
                chain.push_back({module.substr(0, dot), "", 0});
                if (dot != std::string::npos) ++dot;
            }
            return;
        }
    }

    ScopeId scopeOf(ScopeId base, const Chain& chain) {
        ScopeId scope = base;
        for (const Level& level : chain) {
            if (level.qualname.empty()) {
                if (!level.moduleClass.empty())
                    m_graph.mutableScope(m_graph.rootScope()).moduleClass = level.moduleClass;
                continue;
            }
            const auto found = m_scopes.find(ByParts::Parts(scope.value, level.qualname, level.call));
            if (found != m_scopes.end()) {
                scope = found->second;
                continue;
            }
            if (m_scopes.size() >= kMaxScopes) break;  // it belongs to the module around
            const ScopeKey key(scope.value, level.qualname, level.call);
            scope = m_graph.addScope(scope, level.qualname, level.moduleClass, level.call);
            m_scopes.emplace(key, scope);
            m_modules.add(level.qualname, level.moduleClass);
        }
        return scope;
    }

    /// Scope of a call of a model-local function, below that of the calling node.
    ScopeId scopeOfCall(std::size_t index) {
        if (const auto found = m_callScopes.find(index); found != m_callScopes.end()) return found->second;
        const FunctionCall& call = m_calls[index];
        const ScopeId base = call.hint.call ? scopeOfCall(*call.hint.call) : m_graph.rootScope();
        const ScopeId around = scopeOf(base, call.hint.call ? Chain{} : chainOf(call.hint));
        const std::string name = call.name.substr(call.name.rfind('/') + 1);
        const std::string& outer = m_graph.scope(around).qualname;
        const std::string qualname = outer.empty() ? name : outer + "." + name;
        const ScopeId scope = scopeOf(around, {{qualname, call.function, 0}});
        m_callScopes.emplace(index, scope);
        return scope;
    }

    void assign(const NameHint& hint) {
        ScopeId scope;
        if (hint.call) {
            scope = scopeOf(scopeOfCall(*hint.call), chainOfMetadata(hint));
        } else {
            Chain chain = chainOf(hint);
            if (!metadataOf(hint, kScopes)) refineByParameters(hint, chain);
            if (chain.empty()) {
                inheritFromOwner(hint.expr);
                scope = m_graph.expr(hint.expr).scope;
            } else {
                scope = scopeOf(m_graph.rootScope(), chain);
            }
        }
        put(hint.expr, scope);
        if (const std::optional<std::string_view> stack = metadataOf(hint, kStack))
            m_graph.mutableExpr(hint.expr).source = graph::Source(sourceOf(*stack));
    }

    void put(ExprId id, ScopeId scope) {
        Expr& expr = m_graph.mutableExpr(id);
        expr.scope = scope;
        expr.qualname = m_graph.scope(scope).qualname;
        expr.moduleClass = m_graph.scope(scope).moduleClass;
    }

    void inheritFromOwner(ExprId id) {
        const ExprId owner = m_graph.body(m_graph.expr(id).body).owner;
        put(id, owner.valid() ? m_graph.expr(owner).scope : m_graph.rootScope());
    }

    /// Parameters stand where they are first read, and belong to the module in their name.
    void attributeParameters() {
        if (m_graph.scope(m_graph.rootScope()).moduleClass.empty())
            m_graph.mutableScope(m_graph.rootScope()).moduleClass = m_graph.name;
        m_modules.mutableModule(0).moduleClass = m_graph.scope(m_graph.rootScope()).moduleClass;
        for (const NameHint& hint : m_hints) {
            const std::vector<NodeId>& outputs = m_graph.expr(hint.expr).outputs;
            if (!isWeight(hint) || outputs.empty() || m_graph.node(outputs.front()).users.empty()) continue;
            put(hint.expr, m_graph.expr(m_graph.node(outputs.front()).users.front()).scope);
        }
        for (std::size_t i = 0; i < m_graph.exprCount(); ++i) {
            const Expr& expr = m_graph.expr(ExprId(i));
            if (!expr.isParameter) continue;
            const graph::Node& node = m_graph.node(expr.outputs.front());
            if (!node.users.empty()) put(expr.id, m_graph.expr(node.users.front()).scope);
            const std::string module = moduleOfParameter(expr.name);
            const std::string owner = module.empty() ? expr.qualname.value_or("") : module;
            graph::ParameterInfo parameter;
            parameter.name = module.empty() ? expr.name : expr.name.substr(module.size() + 1);
            parameter.type = node.type;
            if (node.constant && node.constant->isTensor()) parameter.value = node.constant->tensor();
            parameter.isBuffer = parameter.name.starts_with("running_") || parameter.name == "num_batches_tracked";
            m_modules.mutableModule(m_modules.add(owner, "")).parameters.push_back(std::move(parameter));
        }
    }

    InternalGraph& m_graph;
    ModuleTree& m_modules;
    const std::vector<NameHint>& m_hints;
    const std::vector<FunctionCall>& m_calls;
    std::set<std::string> m_parameterModules;
    TorchPaths m_paths;
    std::map<ScopeKey, ScopeId, ByParts> m_scopes;  // asked without copying names
    std::map<std::size_t, ScopeId> m_callScopes;
};

}  // namespace

void assignScopes(InternalGraph& graph, ModuleTree& modules, const std::vector<NameHint>& hints,
                  const std::vector<FunctionCall>& calls) {
    Assigner(graph, modules, hints, calls).run();
}

}  // namespace sonde::io::onnx
