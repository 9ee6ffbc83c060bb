#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/passes/rewrite.h"

namespace sonde::passes {

/// What tensors share memory with what, at one point of a program: the state of InplaceRemover as it walks over a
/// graph.
///
/// A *storage* is memory of its own. A *place* is a part of a storage: all of it, or what a view cuts out of another
/// place. An *object* is a tensor as the program holds it: in-place operations give the object itself, views are new
/// ones. Each place knows the node that has its content, and since which write.
///
/// Indices instead of pointers: the state is copied where a program branches.
class TensorMemory {
  public:
    using Id = std::size_t;
    static constexpr Id kNone = static_cast<Id>(-1);

    /// How a place is cut out of its parent: one expr, or two for an element of a list of views (chunk, getitem).
    using Steps = std::vector<ExprId>;

    /// Why the content of a storage is not known any more.
    struct Trouble {
        ExprId write;
        std::string what;
        std::string hint;
    };

    struct Storage {
        Id root = kNone;          ///< place
        ExprId origin;            ///< made it
        std::size_t version = 0;  ///< writes so far
        ExprId lastWrite;
        std::optional<Trouble> trouble;
        std::vector<Id> perhapsSame;  ///< storages that may be the same memory
    };
    struct Place {
        Id storage = kNone;
        Id parent = kNone;  ///< kNone: all of the storage
        Steps steps;
        NodeId original;  ///< what was cut first: gives names to what is cut again
        NodeId current;
        std::size_t version = 0;  ///< of the storage, when `current` was its content
        bool isPacked = false;    ///< elements lie one behind the other in memory, last dimension fastest
        bool mayOverlap = false;  ///< several elements may be one place in memory: expand
        ExprId reformedBy;        ///< gave an object this shape in place: unsqueeze_
    };

    // Objects.
    Id objectOf(NodeId node) const {
        const auto found = m_objects.find(node);
        return found == m_objects.end() ? kNone : found->second;
    }
    Id placeOf(Id object) const { return m_places[object]; }
    /// A tensor with memory of its own.
    Id addFresh(NodeId node, ExprId origin);
    /// A view; its own object.
    Id addView(NodeId node, Id base, Steps steps);
    /// Another name of an object.
    void addName(NodeId node, Id object) { m_objects[node] = object; }
    /// The object has another shape from now on; views that were taken of it keep theirs.
    void reform(Id object, NodeId node, ExprId by);
    /// Writes to one storage make the other's content unknown.
    void link(Id storage, Id other);

    Storage& storage(Id id) { return m_storages[id]; }
    const Storage& storage(Id id) const { return m_storages[id]; }
    Place& place(Id id) { return m_allPlaces[id]; }
    const Place& place(Id id) const { return m_allPlaces[id]; }
    std::size_t placeCount() const { return m_allPlaces.size(); }
    Storage& storageOfObject(Id object) { return m_storages[m_allPlaces[m_places[object]].storage]; }
    Id storageIdOfObject(Id object) const { return m_allPlaces[m_places[object]].storage; }
    bool isCurrent(const Place& place) const { return place.version == m_storages[place.storage].version; }

    /// The place's content is `node` now. Places that share the storage are stale; the root is known only if it is
    /// told.
    void wrote(Id place, NodeId node, ExprId write);
    void setCurrent(Id place, NodeId node);
    /// The storage and all that may be the same memory.
    std::vector<Id> mayBeSame(Id storage) const;
    /// Nobody knows what the storage holds, nor any that may be the same.
    void lose(Id storage, const Trouble& trouble);
    /// After a write to the storage: what may be the same memory is not known.
    void loseOthers(Id storage, const Trouble& trouble);

  private:
    std::unordered_map<NodeId, Id> m_objects;
    std::vector<Id> m_places;  ///< by object
    std::vector<Place> m_allPlaces;
    std::vector<Storage> m_storages;
};

}  // namespace sonde::passes
