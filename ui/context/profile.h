#pragma once

#include <QObject>

#include <memory>
#include <optional>

#include "core/analysis/profile/run_profile.h"
#include "ui/context/open_model.h"

namespace sonde::context {

/// The last profile of the open model, for views. It stays until the next one, or until the model goes. Belongs to the
/// UI thread.
class Profile : public QObject {
    Q_OBJECT
  public:
    using Report = std::shared_ptr<const analysis::RunProfile>;

    Profile(const OpenModel& opened, QObject* parent);
    ~Profile() override;

    const Report& report() const { return m_report; }  ///< null: there is none
    void set(const std::shared_ptr<const document::Document>& document, Report report);

  Q_SIGNALS:
    void changed();

  private:
    Report m_report;
};

/// That of a window; `context` is its InspectorContext, which is its parent.
Profile& profileOf(const QObject& context);

/// The profile that a document has in some window; null: none.
Profile::Report profileOf(const std::shared_ptr<const document::Document>& document);

}  // namespace sonde::context
