#pragma once

#include <memory>
#include <string>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::report {

/// Draws graphs for reports, as `sonde render` does. On any thread, in a program with a QGuiApplication.
class GraphPictures {
  public:
    explicit GraphPictures(std::shared_ptr<const document::Document> document);
    ~GraphPictures();

    /// The graph as an <svg>, with what is open at depth 1, or one module open, with what is around it cut off. Errors:
    /// a module that was not called (Usage); Cancelled; what layout says; a picture too large to be read (Usage).
    base::Result<std::string> svg(const std::string& qualname, const base::WorkContext& work);

  private:
    struct Drawing;
    std::unique_ptr<Drawing> m_drawing;
};

}  // namespace sonde::report
