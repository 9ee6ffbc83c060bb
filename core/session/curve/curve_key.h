#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"
#include "core/io/inputs/input_info.h"

namespace sonde::session {

/// What the number of a curve changes; see CurveRequest.
class CurveKey {
  public:
    enum class Kind { Threads, Watches, Setting, Dims };

    /// By name, the first that fits. Usage error if nothing does, with what there is as a hint.
    static base::Result<CurveKey> find(std::string_view key, const std::string& model,
                                       const document::Document& document);

    Kind kind() const { return m_kind; }
    const std::string& what() const { return m_what; }
    /// Usage error: no such number of threads, values or elements.
    base::Result<void> check(double number) const;
    /// The model with the setting; of another kind: the model.
    std::string modelAt(const std::string& model, double number) const;
    /// Inputs of which the dimension has that size; of another kind: as they are.
    std::vector<io::InputInfo> inputsAt(std::vector<io::InputInfo> inputs, double number) const;

  private:
    struct DimPlace {
        std::size_t input, axis;
    };

    Kind m_kind = Kind::Threads;
    std::string m_key, m_what;
    std::size_t m_most = 0;
    std::vector<DimPlace> m_dims;
};

}  // namespace sonde::session
