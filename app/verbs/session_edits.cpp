#include "app/verbs/session_edits.h"

#include "app/interrupt.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "core/document/session_model.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"

namespace sonde::app {

base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document, const std::vector<tensor::Value>& inputs) {
    if (!document->session || document->session->file.edits.empty()) return document;
    session::Session session;
    showIn(session, document, true);
    session::TypesOfRun types;
    if (!inputs.empty()) {
        SONDE_ASSIGN(types, session::typesOfRun(*document, session.edits(), inputs, commandLineWork()));
    }
    const std::size_t before = document->diagnostics.size();
    SONDE_ASSIGN(auto edited, session::editedDocument(*document, session.edits(), types));
    for (std::size_t i = before; i < edited->diagnostics.size(); ++i) printWarning(edited->diagnostics[i].what);
    return edited;
}

}  // namespace sonde::app
