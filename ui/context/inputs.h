#pragma once

#include <QObject>
#include <QString>

#include <vector>

#include "core/session/session.h"
#include "ui/context/file_watch.h"
#include "ui/context/input_spec.h"

namespace sonde::context {

class Messages;

/// What the next run is given: the session's inputs, for views. Belongs to the UI thread.
class Inputs : public QObject {
    Q_OBJECT
  public:
    Inputs(session::Session& session, Messages& messages);

    const std::vector<ModelInput>& all() const { return m_all; }
    /// Null if the model has none of that name.
    const ModelInput* find(const QString& name) const;
    /// In the order of graph().inputs(); none for what is not given.
    std::vector<tensor::Value> values() const { return m_session.inputs().values(); }
    /// What they are, in the grammar of --input-data.
    QString inputData() const { return QString::fromStdString(m_session.inputs().inputData()); }

    /// By the context: the session's inputs are others, which tells of specs only.
    void take();
    /// By the context: those of another document, tells nobody.
    void reset();
    /// By the context: the files that values were read from are known.
    void watchFiles();

  public Q_SLOTS:
    /// Empty spec: forgets what was given.
    /// An archive (.npz) fills every other input that it has an array for, too.
    void setSpec(const QString& name, const sonde::context::InputSpec& spec);
    /// A file for the model as a whole: an archive fills all inputs that it has arrays for, another one is of the first
    /// input.
    void giveFile(const QString& path);
    /// Looks at the files that inputs were read from; inputsChanged() tells of a change.
    void checkFiles() { m_session.inputs().checkFiles(); }

  Q_SIGNALS:
    void inputsChanged();
    /// giveFile() was called: what comes of it is to be seen.
    void fileGiven();
    /// What they are given is other than before. Before inputsChanged().
    void specsChanged();

  private:
    session::Session& m_session;
    Messages& m_messages;
    std::vector<ModelInput> m_all;  ///< the session's, for views
    FileWatch m_watch;              ///< of the files that inputs were read from
};

}  // namespace sonde::context
