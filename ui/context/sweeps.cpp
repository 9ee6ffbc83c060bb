#include "ui/context/sweeps.h"

#include <QSaveFile>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <utility>

#include "core/base/replaced_file.h"
#include "core/session/edits/run_edits.h"
#include "core/session/output_check.h"
#include "core/session/session.h"
#include "core/session/sweep/sweep_output.h"
#include "ui/context/count_text.h"
#include "ui/context/messages.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

namespace {

constexpr int kDrainMs = 100;

/// "2 h 5 min", "40 s".
QString timeText(double seconds) {
    const auto whole = static_cast<qint64>(std::ceil(seconds));
    if (whole >= 3600) return Sweeps::tr("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60);
    if (whole >= 60) return Sweeps::tr("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return Sweeps::tr("%1 s").arg(whole);
}

}  // namespace

/// What the worker hands over.
struct Sweeps::Shared {
    std::mutex mutex;
    std::shared_ptr<const session::Sweep> sweep;  ///< once its inputs are known
    std::vector<session::SweepInput> inputs;
    std::vector<std::string> leftOut, unusedLabels;
    std::vector<session::SweepRow> rows;  ///< not yet taken
};

Sweeps::Sweeps(session::Session& session, Messages& messages) : m_session(session), m_messages(messages) {
    m_timer.setInterval(kDrainMs);
    connect(&m_timer, &QTimer::timeout, this, &Sweeps::drain);
    // After it is no longer active.
    connect(
        &m_job, &Job::finished, this,
        [this] {
            Q_EMIT changed();
            Q_EMIT ended();
        },
        Qt::QueuedConnection);
}

Sweeps::~Sweeps() { m_job.abandon(); }

void Sweeps::clear() {
    m_job.abandon();
    m_timer.stop();
    m_shared.reset();
    m_sweep.reset();
    m_inputs.clear();
    m_rows.clear();
    m_summary = {};
    m_classes = {};
    m_choice = {};
    m_failure.clear();
    m_isDone = false;
    Q_EMIT reset();
    Q_EMIT changed();
}

void Sweeps::start(const SweepChoice& choice) {
    const auto& document = m_session.document();
    if (!document || choice.inputs.isEmpty()) return;
    clear();
    m_choice = choice;
    m_edits = UsedEdits(m_session.edits());
    m_shared = std::make_shared<Shared>();
    m_clock.start();
    const session::RunSettings& settings = m_session.runs().settings();
    m_job.start(
        [document, choice, shared = m_shared, edits = session::runEditsOf(m_session.edits()), seed = settings.seed,
         threads = settings.threads](const base::WorkContext& work) -> base::Result<session::SweepSummary> {
            session::SweepRequest request;
            for (const QString& name : choice.watched) {
                SONDE_ASSIGN(const graph::NodeId node, document->findNode(name.toStdString()));
                request.watch.push_back(node);
            }
            request.condition = choice.condition.toStdString();
            request.preset = choice.preset.toStdString();
            request.seed = seed;
            request.threads = threads;
            request.edits = edits;
            if (!choice.labels.isEmpty()) {
                SONDE_ASSIGN(request.labels, session::SweepLabels::read(choice.labels.toStdString()));
            }
            SONDE_ASSIGN(auto sweep, session::Sweep::make(document, std::move(request)));
            SONDE_ASSIGN(auto inputs, session::sweepInputs(choice.inputs.toStdString(), work));
            SONDE_TRY(sweep.labels().checkFor(inputs.inputs));
            const auto shown = std::make_shared<const session::Sweep>(std::move(sweep));
            {
                const std::scoped_lock lock(shared->mutex);
                shared->sweep = shown;
                shared->inputs = inputs.inputs;
                shared->leftOut = std::move(inputs.leftOut);
                shared->unusedLabels = shown->labels().unused(inputs.inputs);
            }
            return shown->run(
                inputs.inputs,
                [&shared](const session::SweepRow& row) {
                    const std::scoped_lock lock(shared->mutex);
                    shared->rows.push_back(row);
                },
                work);
        },
        [this](base::Result<session::SweepSummary> outcome) { finish(std::move(outcome)); });
    m_timer.start();
    Q_EMIT changed();
}

/// Takes what rows there are.
void Sweeps::drain() {
    if (!m_shared) return;
    std::vector<session::SweepRow> rows;
    bool isNew = false;
    std::vector<std::string> leftOut, unusedLabels;
    {
        const std::scoped_lock lock(m_shared->mutex);
        rows = std::exchange(m_shared->rows, {});
        if (!m_sweep && m_shared->sweep) {
            isNew = true;
            m_sweep = m_shared->sweep;
            m_inputs = std::move(m_shared->inputs);
            leftOut = std::move(m_shared->leftOut);
            unusedLabels = std::move(m_shared->unusedLabels);
        }
    }
    m_elapsedMs = m_clock.elapsed();
    if (isNew) Q_EMIT reset();
    if (!leftOut.empty())
        m_messages.report(
            Message{base::Severity::Info,
                    (leftOut.size() == 1 ? tr("1 file is neither picture nor array: %1%2")
                                         : tr("%1 files are neither pictures nor arrays: %2%3").arg(leftOut.size()))
                        .arg(QString::fromStdString(leftOut.front()),
                             leftOut.size() > 1 ? QStringLiteral(", \u2026") : QString()),
                    m_choice.inputs,
                    {},
                    {}});
    if (!unusedLabels.empty())
        m_messages.report(
            Message{base::Severity::Warning,
                    QString::fromStdString(unusedLabels.front()),
                    m_choice.labels,
                    unusedLabels.size() > 1 ? tr("%1 more like it").arg(unusedLabels.size() - 1) : QString(),
                    {}});
    const std::size_t first = m_rows.size();
    for (session::SweepRow& row : rows) {
        m_summary.add(row);
        m_classes.add(row);
        m_rows.push_back(std::move(row));
    }
    if (m_rows.size() > first) Q_EMIT rowsAdded(first);
    Q_EMIT changed();
}

void Sweeps::finish(base::Result<session::SweepSummary> outcome) {
    m_timer.stop();
    drain();
    m_isDone = true;
    if (outcome) m_summary.isCancelled = outcome->isCancelled;
    else if (outcome.error().kind == base::ErrorKind::Cancelled) m_summary.isCancelled = true;
    else {
        m_failure = windowText(outcome.error());
        m_messages.report(outcome.error());
    }
    if (m_summary.failed > 0 || m_summary.unlabelled > 0)
        m_messages.report(Message{base::Severity::Warning,
                                  tr("Sweep: %1").arg(text()),
                                  m_choice.inputs,
                                  tr("The rows say why: filter with error:"),
                                  {}});
    Q_EMIT changed();
}

QString Sweeps::text() const {
    if (m_choice.inputs.isEmpty()) return {};
    if (!m_failure.isEmpty() && m_rows.empty()) return m_failure;
    QStringList parts;
    const double seconds = static_cast<double>(m_elapsedMs) / 1000;
    const std::size_t done = m_rows.size(), all = m_inputs.size();
    if (!m_sweep) return m_summary.isCancelled ? tr("Cancelled") : tr("Listing the inputs \u2026");
    parts << (m_isDone && !m_summary.isCancelled && m_failure.isEmpty()
                  ? countedText(done, tr("1 input"), tr("%1 inputs"))
                  : tr("%1 of %2 inputs").arg(done).arg(all));
    if (m_isDone && m_summary.isCancelled) parts << tr("cancelled");
    if (seconds > 0 && done > 0) {
        const double rate = static_cast<double>(done) / seconds;
        parts << tr("%1 a second").arg(rate < 100 ? QString::number(rate, 'g', 3) : countText(std::lround(rate)));
        if (!m_isDone)
            parts << tr("%1 left").arg(timeText(seconds * static_cast<double>(all - done) / static_cast<double>(done)));
    }
    if (m_summary.failed > 0) parts << tr("%1 failed").arg(m_summary.failed);
    if (m_sweep->hasCondition()) parts << tr("%1 break the condition").arg(m_summary.broken);
    if (m_summary.labelled > 0)
        parts << tr("accuracy %1 % (%2 of %3)")
                     .arg(100.0 * static_cast<double>(m_summary.correct) / static_cast<double>(m_summary.labelled), 0,
                          'g', 4)
                     .arg(m_summary.correct)
                     .arg(m_summary.labelled);
    if (m_summary.unlabelled > 0) parts << tr("%1 without label").arg(m_summary.unlabelled);
    if (const QString edits = m_edits.text(m_session.edits()); !edits.isEmpty()) parts << edits;
    if (!m_failure.isEmpty()) parts << m_failure;
    const auto firstFailed = std::ranges::find_if(m_rows, [](const session::SweepRow& row) { return !!row.error; });
    if (firstFailed != m_rows.end())
        parts << tr("%1: %2").arg(QString::fromStdString(firstFailed->input), windowText(*firstFailed->error));
    return parts.join(QStringLiteral(" \u00b7 "));
}

QByteArray Sweeps::csv() const {
    if (!m_sweep) return {};
    std::string text = session::sweepCsvTitle(*m_sweep);
    for (const session::SweepRow& row : m_rows) text += session::sweepCsvRow(*m_sweep, row);
    return QByteArray::fromStdString(text);
}

void Sweeps::use(std::size_t row) {
    const QString spec = specOf(row);
    const auto& rows = m_session.inputs().all();
    if (spec.isEmpty() || rows.empty()) return;
    const session::InputSpec given{spec.toStdString(), {true, m_choice.preset.toStdString()}};
    if (given.isArchive()) m_session.runs().giveFile(given.source);
    else if (const auto done = m_session.runs().give(std::string(rows.front().name), given); !done)
        return m_messages.report(done.error());
    // The row is of a run with edits, if there are any.
    if (m_session.edits().planned()) m_session.debugger().restart();
    else m_session.runs().run();
}

bool Sweeps::saveTo(const QString& path) {
    if (const auto allowed = session::checkOutput(m_session, std::filesystem::path(path.toStdU16String())); !allowed) {
        m_messages.report(allowed.error());
        return false;
    }
    if (const auto place = base::placeToReplace(path.toStdU16String()); !place) {
        m_messages.report(place.error());
        return false;
    }
    QSaveFile file(path);
    const QByteArray text = csv();
    const bool isWritten = file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
    if (isWritten) m_messages.report(Message{base::Severity::Info, tr("Sweep saved"), path, {}, {}});
    else
        m_messages.report(Message{
            base::Severity::Error, tr("The table cannot be written: %1").arg(file.errorString()), path, {}, {}});
    return isWritten;
}

QString Sweeps::specOf(std::size_t row) const {
    if (row >= m_inputs.size()) return {};
    const session::SweepInput& input = m_inputs[row];
    const QString path = QString::fromStdString(input.path.string());
    return input.caseName.empty() ? path : path + u'#' + QString::fromStdString(input.caseName);
}

}  // namespace sonde::context
