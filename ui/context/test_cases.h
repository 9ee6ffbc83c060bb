#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

#include "core/session/test_cases.h"

namespace sonde::context {

/// The session's test cases of a dump, for views: see session::TestCases. Belongs to the UI thread; no verb blocks.
class TestCases : public QObject {
    Q_OBJECT
  public:
    TestCases(session::TestCases& cases, session::Comparison& comparison);

    /// In the file of the model.
    std::size_t count() const { return m_of.count(); }
    bool isActive() const { return m_of.isActive(); }
    /// Empty until they are run.
    const std::vector<session::CaseResult>& results() const { return m_of.results(); }
    QString summary() const { return QString::fromStdString(m_of.summary()); }
    /// The case whose inputs the window has; none before.
    std::optional<std::size_t> shown() const { return m_of.shown(); }

  public Q_SLOTS:
    void run();
    /// Its inputs become the window's; the model is run on them and compared with its unoptimised graph.
    void show(std::size_t index);
    /// Compares the dump's values with those of its unoptimised graph, on the present inputs.
    void compareWithUnoptimised();
    void cancel() { m_of.cancel(); }

  Q_SIGNALS:
    /// Results are there, or gone; running them has begun or ended; another case is shown.
    void changed();

  private:
    session::TestCases& m_of;
    session::Comparison& m_comparison;
};

}  // namespace sonde::context
