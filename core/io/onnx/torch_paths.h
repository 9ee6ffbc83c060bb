#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::io::onnx {

/// The calls of modules that the node names of torch.onnx.export (TorchScript) tell of. A name is the path of module
/// names that led to the operation: `/layer1/layer1.0/relu_1/Relu`. Members of containers repeat the container's name
/// (`layer1/layer1.0`); a module's second call counts up its own part alone, so which call of the parent it belongs to
/// is worked out from the order and the numbers of calls.
class TorchPaths {
  public:
    static constexpr std::size_t kMaxLevels = 256;  ///< of modules; deeper ones are cut off

    /// One call of one module.
    struct Call {
        std::size_t module = 0;  ///< index into modules
        int number = 0;          ///< of the module's calls, from 0
    };
    struct Module {
        std::size_t parent = 0;  ///< index; 0 is the root and its own parent
        std::string segment;     ///< as in paths, without a call's number: "layer1.0"
        std::string tail;        ///< what it adds to the parent's qualname: "0"
        std::string qualname;
        int calls = 0;
        std::vector<std::size_t> children;
        std::set<std::string> evidence;  ///< module paths of parameters that its operations and its children's read
        std::vector<std::pair<std::size_t, int>> own;  ///< (position, call) of the operations directly in it, in order
    };

    /// `parameterModules`: every dotted path that parameter names have before their last part.
    explicit TorchPaths(const std::set<std::string>& parameterModules);

    /// First pass: tells of an operation, in order. `path` begins with '/'; `evidence`: module paths of the parameters
    /// that it reads.
    void add(std::string_view path, const std::vector<std::string>& evidence);
    /// Between the passes: finds calls and qualnames.
    void resolve();
    /// Second pass: the calls that an operation is in, outermost first, without the root.
    std::vector<Call> callsOf(std::string_view path) const;
    const Module& module(std::size_t index) const { return m_modules[index]; }

  private:
    struct Resolved {
        std::size_t module = 0;
        int number = 0;
    };
    struct Seen {
        std::size_t position = 0;
        std::vector<std::string> segments;
        std::vector<std::string> evidence;
        std::vector<const Resolved*> resolved = {};  ///< by segment, as far as resolve() came; in m_bySegment
    };

    void collectSegments(std::size_t depth, std::vector<std::size_t>& parents);
    void findQualnames();
    void countCalls();
    std::string qualnameOf(const Module& module) const;
    int callOfParent(std::size_t child, int number, int spokenNumber) const;

    const std::set<std::string>& m_parameterModules;
    std::vector<Module> m_modules;
    std::vector<Seen> m_seen;
    std::unordered_map<std::string, Resolved> m_bySegment;  ///< "PARENT/raw segment" → module and call
    std::vector<std::unordered_map<int, std::size_t>>
        m_firstUse;  ///< by module, of each call: the position of its first operation
};

/// "/a/b/Conv" → {"a", "b"}; the last part names the operation.
std::vector<std::string> scopeSegments(std::string_view path);

}  // namespace sonde::io::onnx
