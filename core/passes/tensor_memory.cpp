#include "core/passes/tensor_memory.h"

#include <algorithm>

namespace sonde::passes {

TensorMemory::Id TensorMemory::addFresh(NodeId node, ExprId origin) {
    const Id storage = m_storages.size();
    m_storages.push_back({m_allPlaces.size(), origin, 0, {}, {}, {}});
    m_allPlaces.push_back({storage, kNone, {}, node, node, 0, false, false, {}});
    m_places.push_back(m_allPlaces.size() - 1);
    m_objects[node] = m_places.size() - 1;
    return m_places.size() - 1;
}

TensorMemory::Id TensorMemory::addView(NodeId node, Id base, Steps steps) {
    const Id parent = m_places[base];
    const Id storage = m_allPlaces[parent].storage;
    m_allPlaces.push_back({storage,
                           parent,
                           std::move(steps),
                           node,
                           node,
                           m_storages[storage].version,
                           false,
                           m_allPlaces[parent].mayOverlap,
                           {}});
    m_places.push_back(m_allPlaces.size() - 1);
    m_objects[node] = m_places.size() - 1;
    return m_places.size() - 1;
}

void TensorMemory::reform(Id object, NodeId node, ExprId by) {
    const Id parent = m_places[object];
    const Id storage = m_allPlaces[parent].storage;
    m_allPlaces.push_back(
        {storage, parent, {by}, node, node, m_storages[storage].version, false, m_allPlaces[parent].mayOverlap, {}});
    m_allPlaces.back().reformedBy = by;
    m_places[object] = m_allPlaces.size() - 1;
    m_objects[node] = object;
}

void TensorMemory::link(Id storage, Id other) {
    if (storage == other) return;
    m_storages[storage].perhapsSame.push_back(other);
    m_storages[other].perhapsSame.push_back(storage);
}

void TensorMemory::wrote(Id place, NodeId node, ExprId write) {
    Storage& storage = m_storages[m_allPlaces[place].storage];
    ++storage.version;
    storage.lastWrite = write;
    setCurrent(place, node);
}

void TensorMemory::setCurrent(Id place, NodeId node) {
    m_allPlaces[place].current = node;
    m_allPlaces[place].version = m_storages[m_allPlaces[place].storage].version;
}

void TensorMemory::lose(Id storage, const Trouble& trouble) {
    ++m_storages[storage].version;
    m_storages[storage].trouble = trouble;
    m_storages[storage].lastWrite = trouble.write;
}

std::vector<TensorMemory::Id> TensorMemory::mayBeSame(Id storage) const {
    std::vector<Id> all{storage};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const Id linked : m_storages[all[i]].perhapsSame) {
            if (std::ranges::find(all, linked) == all.end()) all.push_back(linked);
        }
    }
    return all;
}

void TensorMemory::loseOthers(Id storage, const Trouble& trouble) {
    for (const Id each : mayBeSame(storage)) {
        if (each != storage) lose(each, trouble);
    }
}

}  // namespace sonde::passes
