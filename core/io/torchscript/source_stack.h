#pragma once

#include <memory>
#include <string>

#include "core/io/torchscript/syntax.h"

namespace sonde::io::script {

class CallPlace;

/// One call of a function of an archive while it runs, innermost last: from it the tracer learns where in the model's
/// own source (or else in the archive's code) each operation stands, and through which calls it came there.
class SourceFrame {
  public:
    explicit SourceFrame(const FunctionDef& function);
    ~SourceFrame();
    SourceFrame(const SourceFrame&) = delete;
    SourceFrame& operator=(const SourceFrame&) = delete;

    /// Where the innermost call is now.
    static void at(const Statement& statement);
    static void at(const Expression& expression);
    /// The innermost call is at the end of its function, where its result is read.
    static void atEnd();
    /// "file:line" of where the innermost call is; empty: not known.
    static std::string where();
    /// To be called in a catch block: throws the exception again, a TraceError that says nothing of the source with the
    /// place of the innermost call.
    [[noreturn]] static void rethrow();
    /// What is known of the source after an expression of the innermost call.
    static SourceRanges::Place placeOf(const Expression& expression);
    /// The innermost call's function; null outside of any.
    static const FunctionDef* function();

  private:
    friend class ScriptSite;

    /// Where the call is now, with the calls around it. Operations that were recorded at the same place share it.
    const std::shared_ptr<const CallPlace>& place();

    const FunctionDef& m_function;
    std::size_t m_statement = 0;  ///< byte offsets
    std::size_t m_expression = 0;
    int m_line = 0;
    SourceFrame* m_outer;
    std::shared_ptr<const CallPlace> m_place;  ///< of the last operation that asked
};

}  // namespace sonde::io::script
