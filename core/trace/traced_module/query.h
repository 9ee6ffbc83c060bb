#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "core/base/result.h"
#include "core/trace/traced_module/node.h"

namespace sonde::trace {

class Module;

/// Result of a query (traced-module.md, "Queries"): items in the graph's order. Iterating twice gives the same.
template <typename T>
class Query {
  public:
    Query() = default;
    explicit Query(std::vector<T*> items) : m_items(std::move(items)) {}

    auto begin() const { return m_items.begin(); }
    auto end() const { return m_items.end(); }
    const std::vector<T*>& asList() const { return m_items; }
    std::map<std::uint64_t, T*> asDict() const {
        std::map<std::uint64_t, T*> result;
        for (T* item : m_items) result.emplace(item->id(), item);
        return result;
    }
    /// The only item. Error: "2 elements found".
    base::Result<T*> asUnique() const {
        if (m_items.size() == 1) return m_items.front();
        return base::usageError(std::to_string(m_items.size()) + " elements found");
    }
    std::size_t asCount() const { return m_items.size(); }

  protected:
    template <typename Keep>
    std::vector<T*> kept(Keep&& keep) const {
        std::vector<T*> result;
        for (T* item : m_items) {
            if (keep(*item)) result.push_back(item);
        }
        return result;
    }
    bool hasId(const T& item, const std::vector<std::uint64_t>& ids) const {
        for (std::uint64_t id : ids) {
            if (item.id() == id) return true;
        }
        return false;
    }

  private:
    std::vector<T*> m_items;
};

/// The module stands for a built-in one of that C++ class (`nn::Conv2d`), or of the class in archives that has its name
/// (`torch.nn.modules.conv.Conv2d`).
bool wasBuiltAs(const Module& module, const std::type_info& type);

class ExprQuery : public Query<TracedExpr> {
  public:
    using Query::Query;
    /// Calls of functions: by display name ("relu") or full target ("torch.nn.functional.relu"); empty: all.
    ExprQuery callFunction(std::string_view function = {}) const;
    /// Calls of methods by name; a module call has the method "__call__"; empty: all methods and module calls.
    ExprQuery callMethod(std::string_view method = {}) const;
    ExprQuery exprId(std::vector<std::uint64_t> ids) const;
};

class NodeQuery : public Query<TracedNode> {
  public:
    using Query::Query;
    /// Module nodes whose module is of the class of that name, or is an M. A built-in module of a file is a graph; it
    /// is an M if it was saved as one, by the class's own name.
    NodeQuery type(std::string_view moduleClass) const;
    template <typename M>
    NodeQuery type() const {
        return NodeQuery(kept([](const TracedNode& node) {
            if (!node.isModule()) return false;
            const auto module = node.owner();
            return dynamic_cast<const M*>(module.get()) || (module && wasBuiltAs(*module, typeid(M)));
        }));
    }
    NodeQuery nodeId(std::vector<std::uint64_t> ids) const;
    /// Glob (`*`, `?`, `[..]`, `[!..]`) on the full name, from its beginning to its end.
    NodeQuery name(std::string_view pattern, bool ignoreCase = true) const;
};

}  // namespace sonde::trace
