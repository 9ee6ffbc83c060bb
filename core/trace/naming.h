#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace sonde::trace {

/// Words that are no node names: keywords and built-ins (symbolic-trace.md, "Reserved names"). `withTorchNames` adds
/// those that only the fx scheme reserves: torch, device, fx_pytree, pytree.
bool isReservedName(std::string_view word, bool withTorchNames);

/// Runs of characters outside [0-9A-Za-z_] become one '_'; a leading digit gets one in front.
std::string identifierOf(std::string_view text);

/// "ReLU" → "re_lu", "ConvBN2d" → "conv_bn2d": an upper-case letter after a lower-case one starts a new word.
std::string snakeCase(std::string_view text);

/// Candidate for a node's name from a target or a function's name: "__add__" → "add", then snake case.
std::string nameCandidate(std::string_view target);

/// The fx naming scheme (symbolic-trace.md, "Names"): one table per graph; a name is never used twice nor freed.
class FxNames {
  public:
    /// The name that the next node with this candidate gets; it is taken from now on.
    std::string unique(std::string_view candidate);

  private:
    std::unordered_set<std::string> m_used;
    std::unordered_map<std::string, std::uint64_t> m_next;  ///< candidate → the first number that may be free
};

/// The TracedModule naming scheme (traced-module.md, "Names"): a removed node frees its name.
class TracedNames {
  public:
    std::string unique(std::string_view name);
    bool holds(const std::string& name) const { return m_used.contains(name); }
    /// Holds the name as it is.
    void take(std::string name) { m_used.insert(std::move(name)); }
    void free(const std::string& name);

  private:
    std::unordered_set<std::string> m_used;
    std::unordered_map<std::string, std::uint64_t> m_next;  ///< candidate → the first number that may be free
};

}  // namespace sonde::trace
