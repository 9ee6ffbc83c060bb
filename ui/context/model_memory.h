#pragma once

#include <QObject>

#include <string>
#include <tuple>
#include <vector>

#include "core/session/session.h"

namespace sonde::context {

class Canvases;
class Comparison;
class Inputs;
class Navigation;
class OpenModel;
class Runs;

/// Keeps what belongs to a model for the next time that it is opened (see remembered.h), and brings it back. Belongs to
/// the UI thread.
class ModelMemory : public QObject {
    Q_OBJECT
  public:
    /// The parts of a window whose state is kept.
    struct Parts {
        session::Session& session;
        OpenModel& model;
        Navigation& navigation;
        Canvases& canvases;
        Inputs& inputs;
        Runs& runs;
        Comparison& comparison;
    };
    explicit ModelMemory(const Parts& parts) : m_parts(parts) {}

    /// In place of what the parts have, which is of the document before: what is remembered of the one that is shown,
    /// or nothing if there is none. Tells nobody.
    void recallAll();

  Q_SIGNALS:
    /// Something in the session file could not be restored.
    void notRestored(const QString& what);
    /// What it gives for inputs is outside of its folder, or cannot be used.
    void inputsRefused(const sonde::base::Error& error);

  public Q_SLOTS:
    /// Remembers what belongs to the model.
    void keep();
    /// The same if expressions are others, not only their results.
    void keepExpressions();

  private:
    /// What is in the session file that the model was opened by takes the place of what is remembered. False: there is
    /// none, or that was done before.
    bool recallFile();

    const Parts m_parts;
    std::weak_ptr<const document::Document> m_ofFile;                         ///< whose file was taken: once
    std::vector<std::tuple<std::string, graph::NodeId, bool>> m_expressions;  ///< as they were kept last
};

}  // namespace sonde::context
