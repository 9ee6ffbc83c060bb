#pragma once

#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/io/session_file/session_file.h"
#include "core/session/diff/graph_pairs.h"

namespace sonde::session {

using StoredPair = io::SessionFile::Compared::Pair;

StoredPair storedPair(const graph::InternalGraph& first, const graph::InternalGraph& second,
                      const PairsByHand::Pair& pair, bool isApart);

/// What is stored as nodes of two graphs, which may be other exports than those it was said of. `lost`: a line for each
/// pair of which one graph has no node like it.
PairsByHand pairsByHand(const std::vector<StoredPair>& stored, const graph::InternalGraph& first,
                        const graph::InternalGraph& second, std::vector<std::string>& lost);

/// Of a session file, if it compares its model side by side with the one at `other` (a path or "zoo:NAME"); else none.
std::vector<StoredPair> storedPairsWith(const document::Document& document, const std::string& other);

/// The model that a session file compares its own with: a path or "zoo:NAME"; empty: none.
std::string comparedModelOf(const document::Document& document);

}  // namespace sonde::session
