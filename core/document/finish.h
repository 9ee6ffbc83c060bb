#pragma once

#include <span>

#include "core/document/document_types.h"

namespace sonde::document {

/// Infers types and publishes the graph in the document.
void finish(Document& document, graph::InternalGraph graph, const base::WorkContext& work);

/// Adds a finding for every operator that the engine cannot run, with how often it occurs. Done for every format.
void findUnknownOperators(Document& document);

/// A number that tells contents apart: FNV-1a (Fowler, Noll, Vo) by words of 64 bits over the size and the first and
/// last MiB.
std::uint64_t fingerprintOf(std::span<const std::byte> content);

}  // namespace sonde::document
