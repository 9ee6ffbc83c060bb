#include "app/verbs/session_edits.h"

#include "app/verbs/options.h"
#include "core/document/session_model.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"

namespace sonde::app {

base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document) {
    if (!document->session || document->session->file.edits.empty()) return document;
    session::Session session;
    showIn(session, document, true);
    return session::editedDocument(*document, session.edits());
}

}  // namespace sonde::app
